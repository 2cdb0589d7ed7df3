const CONSOLE = '/console'
/** So long that it fits into a cookie alongside what proves a sign-in. */
export const MAX_ADDRESS_CHARACTERS = 2_000
/** Any will do: an address of ours is one regardless of the host. */
const HOST = 'https://console.invalid'

/**
 * Whether a text is the address of something in the web console, as a browser writes it: a path on our own host, with its query. What
 * a browser, a proxy or a server might read in another way is none.
 */
export function isConsoleAddress(text: string): boolean {
  if (text.length > MAX_ADDRESS_CHARACTERS || !/^\/console(?:[/?#]|$)/.test(text)) return false
  const url = URL.parse(text, HOST)
  // A browser would change `..`, backslashes, tabs and what is not ASCII.
  if (url?.href !== HOST + text) return false
  return !/%(?:2f|5c|2e|25|00)|\/\//i.test(url.pathname)
}

/** The address that one comes back to: all of this one, or its path if all is too long, or the start of the console. */
export function addressToComeBackTo({
  pathname,
  search,
  hash,
}: Record<'pathname' | 'search' | 'hash', string>): string {
  return [pathname + search + hash, pathname].find(isConsoleAddress) ?? CONSOLE
}
