/**
 * The path and query of a request: each `{name}` of the path filled in, percent-encoded.
 * @throws TypeError for a parameter that is missing, or would make it another path
 */
export function requestPath(path: string, params: Params = {}, query: Query = {}): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => segment(path, name, params[name]))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
  const asked = search.toString()
  return asked === '' ? filled : `${filled}?${asked}`
}

type Params = Readonly<Record<string, string>>
export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>

/** Whoever resolves an address drops `.`, and `..` with the part before it, however they are encoded. */
function segment(path: string, name: string, value: unknown): string {
  if (typeof value !== 'string' || /^\.{0,2}$/.test(value))
    throw new TypeError(`The parameter ${name} of ${path} can not be ${JSON.stringify(value)}.`)
  return encodeURIComponent(value)
}
