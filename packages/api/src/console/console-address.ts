const CONSOLE = '/console'
/** Short enough to fit into a cookie together with the proof of a sign-in. */
export const MAX_ADDRESS_CHARACTERS = 2_000
/** Any host works: only the path and query of an address are compared. */
const HOST = 'https://console.invalid'

/**
 * Returns whether a text is an address in the web console as a browser writes it: a path on our own host, with its
 * query. Refuses anything that a browser, a proxy or a server could read differently.
 */
export function isConsoleAddress(text: string): boolean {
  if (text.length > MAX_ADDRESS_CHARACTERS || !/^\/console(?:[/?#]|$)/.test(text)) return false
  const url = URL.parse(text, HOST)
  // A browser would rewrite `..`, backslashes, tabs and non-ASCII characters.
  if (url?.href !== HOST + text) return false
  return !/%(?:2f|5c|2e|25|00)|\/\//i.test(url.pathname)
}

/** Returns the address to return to: this one, or its path if the whole is too long, or the start of the console. */
export function addressToComeBackTo({
  pathname,
  search,
  hash,
}: Record<'pathname' | 'search' | 'hash', string>): string {
  return [pathname + search + hash, pathname].find(isConsoleAddress) ?? CONSOLE
}
