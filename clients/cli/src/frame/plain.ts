/**
 * Makes a text unable to move the cursor, set colors or reverse the writing direction: of text from others, only line
 * breaks and tabs reach the terminal.
 */
export function plain(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]|[\u202A-\u202E\u2066-\u2069]/gu, '\uFFFD')
}
