/** How a command ends. The numbers are part of the interface. */

/** Everything is fine; warnings alone keep it. */
export const OK = 0;
/** A plan has errors. */
export const FINDINGS = 1;
/** The arguments are wrong or an input cannot be read. */
export const USAGE = 2;
/** The request is refused. */
export const REFUSED = 3;
/** A contract is violated. */
export const CONTRACT_VIOLATED = 4;
/** A lock or another thing outside failed, or okstra itself has a fault. */
export const FAULT = 5;

/** The arguments cannot be followed, for a reason their shape does not show. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
