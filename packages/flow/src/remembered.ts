import { LRUCache } from 'lru-cache'

/** Of what each function remembers. What is made of a text takes several times its room, and something whatever its length. */
const MAX_CHARACTERS = 4 * 1024 * 1024
const ANY_TEXT = 256

/**
 * Remembers what a pure function made of a text, for as long as there is room: executions bring the same texts again and again. It goes by
 * the text itself, so nothing is taken for another. What is answered is shared, and must not be changed.
 */
export function rememberedByText<T extends object>(make: (text: string) => T): (text: string) => T {
  const made = new LRUCache<string, T>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: (_, text) => ANY_TEXT + text.length,
  })
  return (text) => {
    const known = made.get(text)
    if (known !== undefined) return known
    const fresh = make(text)
    made.set(text, fresh)
    return fresh
  }
}
