// Prompts to count: all different, unless intended otherwise.

const WORDS =
  'the report says that each of them was seen twice in an evening and no one knows why because of what they had ordered'.split(
    ' ',
  )

/** Pseudorandom numbers, the same each time. */
function openNumbers(seed: number): (below: number) => number {
  let state = seed >>> 0 || 1
  return (below) => {
    state = Math.imul(state ^ (state >>> 15), 0x2c_1b_3c_6d) + 0x9e_37_79_b9
    return ((state >>> 8) * below) >>> 24
  }
}

function filled(characters: number, next: () => string): string {
  const parts: string[] = []
  for (let length = 0; length < characters;) {
    const part = next()
    parts.push(part)
    length += part.length
  }
  return parts.join('').slice(0, characters)
}

/** Sentences with occasional names and numbers. */
export function prose(seed: number, characters: number): string {
  const below = openNumbers(seed)
  return filled(characters, () => {
    const kind = below(20)
    if (kind === 0) return `. ${String.fromCodePoint(65 + below(26))}${WORDS[below(WORDS.length)]!}`
    return kind === 1 ? ` ${below(100_000)}` : ` ${WORDS[below(WORDS.length)]!}`
  })
}

/** Worst cases for a tokenizer: words that don't end, of which few or many characters merge. */
export const adversarial: Record<string, (seed: number, characters: number) => string> = {
  'one letter again and again': (seed, characters) => `${seed}${'a'.repeat(characters)}`.slice(0, characters),
  'one word of any letters': (seed, characters) => {
    const below = openNumbers(seed)
    return filled(characters, () => String.fromCodePoint(97 + below(26)))
  },
  'one word of rare letters': (seed, characters) => {
    const below = openNumbers(seed)
    return filled(characters / 3, () => String.fromCodePoint(0x4e_00 + below(20_000)))
  },
  'words of four letters': (seed, characters) => {
    const below = openNumbers(seed)
    const letter = () => String.fromCodePoint(97 + below(26))
    return filled(characters, () => ` ${letter()}${letter()}${letter()}${letter()}`)
  },
}
