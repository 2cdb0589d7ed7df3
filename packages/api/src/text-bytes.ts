// How many bytes a text is, and whether it is base64: in browsers, and in Node, whose native functions take a tenth of the time on
// the path of each call. Both answer the same; that is what the test alongside it is for.

/** What is used of Node's `Buffer`, which a browser does not have. */
interface NativeBytes {
  byteLength(text: string): number
  from(text: string, encoding: 'base64'): { length: number }
}
const native = (globalThis as { Buffer?: NativeBytes }).Buffer

/** The length of a text in UTF-8 bytes; half of a surrogate pair counts three, as it is written. */
export const utf8Bytes: (text: string) => number = native ? (text) => native.byteLength(text) : encodedBytes

/** Whether it is base64 or base64url, with its padding or without, of at least one byte. */
export const isBase64: (text: string) => boolean = native ? (text) => decodesWhole(native, text) : isBase64Text

/** The bytes of a base64 text: four characters are three of them. */
export function decodedBytes(text: string): number {
  return Math.floor((unpadded(text) * 3) / 4)
}

export function encodedBytes(text: string): number {
  return new TextEncoder().encode(text).length
}

export function isBase64Text(text: string): boolean {
  return isWhole(text) && /^[\w+/-]+$/.test(text.slice(0, unpadded(text)))
}

/**
 * Anyone who decodes leaves out what is not base64, so its length tells; a regular expression takes fifty times as long. Of a character
 * beyond ASCII only a half is looked at, so there may be none.
 */
function decodesWhole(native: NativeBytes, text: string): boolean {
  return (
    isWhole(text) &&
    native.byteLength(text) === text.length &&
    native.from(text, 'base64').length === decodedBytes(text)
  )
}

/** One character says nothing, neither alone nor behind the others. */
function isWhole(text: string): boolean {
  return decodedBytes(text) > 0 && unpadded(text) % 4 !== 1
}

function unpadded(text: string): number {
  return text.length - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0)
}
