/** Of what each function remembers. What is made of a text takes several times its room, plus a fixed amount. */
const MAX_CHARACTERS = 4 * 1024 * 1024
const ANY_TEXT = 256

/**
 * Remembers what a pure function made of a text, for as long as there is room: executions bring the same texts again and again. It goes by
 * the text itself, so nothing is taken for another. What is answered is shared, and must not be changed. What was not asked for longest is
 * forgotten first; written here, because browsers load this too, and a package that does it is larger than all else of a flow's shape.
 */
export function rememberedByText<T extends object>(make: (text: string) => T): (text: string) => T {
  const made = new Map<string, T>() // in the order in which they were asked for
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
