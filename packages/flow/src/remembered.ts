/**
 * Cache size per function, in characters of source text. A result takes several times that space, plus a fixed amount.
 */
const MAX_CHARACTERS = 4 * 1024 * 1024
const ANY_TEXT = 256

/**
 * Caches the results of a pure function of a text, within a bound, because executions repeat the same texts. The key is
 * the text itself, so there are no collisions. Results are shared and must not be mutated. The least recently used
 * result is evicted first. Implemented here because browsers load this too, and a cache package would be larger than
 * the rest.
 */
export function rememberedByText<T extends object>(make: (text: string) => T): (text: string) => T {
  const made = new Map<string, T>() // ordered by last use
  let room = MAX_CHARACTERS
  const takes = (text: string) => ANY_TEXT + text.length
  return (text) => {
    const known = made.get(text)
    const value = known ?? make(text)
    if (takes(text) > MAX_CHARACTERS) return value
    if (known) made.delete(text)
    else room -= takes(text)
    made.set(text, value)
    for (const oldest of made.keys()) {
      if (room >= 0) break
      made.delete(oldest)
      room += takes(oldest)
    }
    return value
  }
}
