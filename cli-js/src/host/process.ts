/** Signals. */

/** Calls back once when the person asks to stop; a second time ends the process at once. */
export function onInterrupt(stop: () => void): void {
  let asked = false;
  const handler = (signal: NodeJS.Signals) => {
    if (asked) process.exit(signal === 'SIGINT' ? 130 : 143);
    asked = true;
    stop();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, handler);
}
