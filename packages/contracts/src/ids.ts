/** An id of ours: a prefix that says what it names, then 26 characters of Crockford base32. */
export type Id<Prefix extends string> = string & { readonly __id?: Prefix }

export type InvocationId = Id<'inv'>
export type ProjectId = Id<'prj'>
export type KeyId = Id<'key'>

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/**
 * Makes an id that sorts by time: 48 bits of milliseconds, then 80 random bits.
 * @param random at least 10 bytes from a cryptographic source
 */
export function mintId<P extends string>(prefix: P, nowMs: number, random: Uint8Array): Id<P> {
  let time = ''
  for (let n = 0, rest = Math.floor(nowMs); n < 10; n++, rest = Math.floor(rest / 32))
    time = ALPHABET[rest % 32]! + time
  let tail = ''
  for (let at = 0; at < 80; at += 5) {
    const byte = at >> 3
    const pair = (random[byte]! << 8) | (random[byte + 1] ?? 0)
    tail += ALPHABET[(pair >> (11 - (at & 7))) & 31]
  }
  return `${prefix}_${time}${tail}`
}

/** When an id was made, by the clock of whoever made it; null: it is not one of ours. */
export function timeOfId(id: string): Date | null {
  const [, time] = /^[a-z]{3}_([0-7][0-9a-hjkmnp-tv-z]{9})[0-9a-hjkmnp-tv-z]{16}$/.exec(id) ?? []
  if (time === undefined) return null
  let ms = 0
  for (const digit of time) ms = ms * 32 + ALPHABET.indexOf(digit)
  return new Date(ms)
}

export type NewId = <P extends string>(prefix: P) => Id<P>

const BYTES_EACH = 10

/**
 * Makes ids by `mintId`. Random bytes are fetched for many at once: fetching ten costs as much as fetching thousands.
 * @param now Unix milliseconds
 * @param fillRandom fills from a cryptographic source
 */
export function openIdGenerator(now: () => number, fillRandom: (bytes: Uint8Array) => unknown): NewId {
  const random = new Uint8Array(BYTES_EACH * 400)
  let at = random.length
  return (prefix) => {
    if (at === random.length) {
      fillRandom(random)
      at = 0
    }
    const own = random.subarray(at, at + BYTES_EACH)
    at += BYTES_EACH
    return mintId(prefix, now(), own)
  }
}
