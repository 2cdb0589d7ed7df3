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
