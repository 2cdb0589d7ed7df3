/**
 * Creates a key: a repeated request under it returns what the first one created. Works in browsers without https as
 * well.
 */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
