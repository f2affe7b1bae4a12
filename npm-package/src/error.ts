import type { ErrorCode, ErrorDetails, ErrorInfo } from './generated/types.js';

/** The one error every function of this package throws. A fault of a plan is never an error. */
export class OkstraError extends Error {
  override readonly name = 'OkstraError';
  /** The stable name of the reason. */
  readonly code: ErrorCode;
  /** How to mend it, or `null`. */
  readonly help: string | null;
  /** The exit status of a command that ends with it. */
  readonly exit_code: number;
  /** Facts for programs: numbers and names the message was made from. */
  readonly details: ErrorDetails;

  constructor(info: ErrorInfo, options?: ErrorOptions) {
    super(info.message, options);
    this.code = info.code;
    this.help = info.help;
    this.exit_code = info.exit_code;
    this.details = info.details;
  }
}

/** The module could not be made ready, or was not asked to. */
export function notInitialised(message: string, help: string, cause?: unknown): OkstraError {
  const details = cause === undefined ? {} : { reason: String(cause) };
  const info: ErrorInfo = { code: 'not-initialised', message, help, exit_code: 5, details };
  return new OkstraError(info, cause === undefined ? undefined : { cause });
}
