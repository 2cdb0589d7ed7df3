/** Item found by its title. */
export interface Named {
  title: string
}

/** Items whose titles contain the letters in order, best match first; all items for an empty search. */
export function fuzzyFound<Item extends Named>(items: Item[], sought: string): Item[] {
  const letters = sought.toLowerCase().replaceAll(/\s+/g, '')
  if (letters === '') return items
  const found = items.flatMap((item) => {
    const score = fuzzyScore(item.title, letters)
    return score === null ? [] : [{ item, score }]
  })
  return found.toSorted((one, other) => other.score - one.score).map(({ item }) => item)
}

const START_OF_WORD = 8
const NEXT_TO_EACH_OTHER = 5

/** Higher for adjacent letters, letters that start words, and short titles; null if a letter is missing. */
function fuzzyScore(title: string, letters: string): number | null {
  const text = title.toLowerCase()
  let [score, at] = [0, -1]
  for (const letter of letters) {
    const next = bestIndex(text, letter, at)
    if (next === -1) return null
    if (isStart(text, next)) score += START_OF_WORD
    if (next === at + 1) score += NEXT_TO_EACH_OTHER
    at = next
  }
  return score - text.length / 100
}

/** Index of the letter right after the last match, else at the next word start, else anywhere later. */
function bestIndex(text: string, letter: string, after: number): number {
  if (text[after + 1] === letter) return after + 1
  for (let at = text.indexOf(letter, after + 1); at !== -1; at = text.indexOf(letter, at + 1))
    if (isStart(text, at)) return at
  return text.indexOf(letter, after + 1)
}

function isStart(text: string, at: number): boolean {
  return at === 0 || /[\s\-_/.:]/.test(text[at - 1]!)
}
