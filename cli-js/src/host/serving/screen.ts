/** Whether somebody sits before this machine. */

/** See {@link Serving.hasScreen}. */
export function hasScreen(): boolean {
  const { env } = process;
  const isSet = (name: string) => (env[name] ?? '') !== '';
  // Linux inside Windows shows things on its screen.
  if (isSet('DISPLAY') || isSet('WAYLAND_DISPLAY') || isSet('WSL_INTEROP')) return true;
  const isRemote = isSet('SSH_CONNECTION') || isSet('SSH_TTY');
  return ['darwin', 'win32'].includes(process.platform) && !isRemote;
}
