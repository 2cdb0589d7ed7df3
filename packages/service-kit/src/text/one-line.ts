/** Returns a user's text on one line and without links, for a header or a sentence of a mail or a message. */
export function oneLine(text: string): string {
  return text
    .replace(/[\p{C}\s]+/gu, ' ')
    .replace(/:\/\//g, ': //')
    .replace(/(\w)\.(?=\w)/g, '$1. ')
    .trim()
}
