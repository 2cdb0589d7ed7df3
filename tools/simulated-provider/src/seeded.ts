/** Pseudorandom numbers, the same for the same seed text. */
export interface Seeded {
  /** An integer from 0 to `below` - 1. */
  next(below: number): number
  /** Hexadecimal digits. */
  hex(digits: number): string
}

export function seeded(text: string): Seeded {
  let state = fnv1a(text) || 1
  const next32 = (): number => {
    // xorshift32
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state >>> 0
  }
  return {
    next: (below) => next32() % below,
    hex(digits) {
      let out = ''
      while (out.length < digits) out += next32().toString(16).padStart(8, '0')
      return out.slice(0, digits)
    },
  }
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}

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
