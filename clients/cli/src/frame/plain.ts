/** A text that can move no cursor and colour nothing: of what others wrote, terminals get line breaks and tabs alone. */
export function plain(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, '\uFFFD')
}
