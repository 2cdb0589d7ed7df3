/**
 * A text that can move no cursor, colour nothing and turn no writing round: of what others wrote, terminals get line breaks and tabs
 * alone.
 */
export function plain(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]|[\u202A-\u202E\u2066-\u2069]/gu, '\uFFFD')
}
