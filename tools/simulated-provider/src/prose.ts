import type { Seeded } from './seeded.ts'

const lexicon =
  `river stone light harbour answer window garden letter quiet morning engine bridge copper paper forest signal
  winter market island mirror thread silver meadow candle voyage border lantern kitchen station village compass
  orchard whisper thunder pattern journey measure shelter balance courage horizon
  carries follows opens gathers crosses reaches remembers keeps turns holds finds leaves
  under over beyond near through without toward within across between
  slowly clearly rarely often gently early`.split(/\s+/)

/** Returns `count` words as sentences, such as `River keeps stone under light. …`. */
export function prose(random: Seeded, count: number): string {
  let text = ''
  let left = count
  while (left > 0) {
    const length = Math.min(left, 5 + random.next(6))
    for (let i = 0; i < length; i++) {
      const word = lexicon[random.next(lexicon.length)] as string
      if (i === 0) text += (text === '' ? '' : ' ') + (word[0] as string).toUpperCase() + word.slice(1)
      else text += ` ${word}`
    }
    text += '.'
    left -= length
  }
  return text
}

/** Splits a text into its tokens, which join to the same text again. */
export function tokensOf(text: string): string[] {
  return text.match(/\s*\S{1,8}|\s+/gu) ?? []
}
