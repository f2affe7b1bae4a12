/**
 * UTF-8 as text, without a byte order mark; what is no UTF-8 becomes U+FFFD. A `TextDecoder` says
 * the same, and takes a fifth of a millisecond to make.
 */
export function utf8Of(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}
