/** Work that goes on after this process. */

/**
 * Runs a script of okstra in a process of its own that outlives this one: in a session of its own,
 * with nothing of ours open. Answers once it is started.
 */
export function detach(script: string, args: readonly string[]): Promise<void> {
  // Not an import: loading it costs 3 ms.
  const { spawn } = process.getBuiltinModule('node:child_process');
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...args], {
      // A folder that vanishes with the session must not keep it from starting.
      cwd: '/',
      detached: true,
      stdio: 'ignore',
      windowsHide: true,
    });
    child.once('error', reject);
    child.once('spawn', () => {
      child.unref();
      resolve();
    });
  });
}
