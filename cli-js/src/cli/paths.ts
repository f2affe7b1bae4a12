/** Paths as the core takes them. */

/** A path with `/`. Only a Windows path is changed: elsewhere a backslash is a letter of a name. */
export function slashes(path: string): string {
  return path.includes('\\') && /^([a-z]:|\\\\)/i.test(path) ? path.replaceAll('\\', '/') : path;
}
