/** An id of ours: a prefix for its kind, then 26 characters of Crockford base32. */
export type Id<Prefix extends string> = string & { readonly __id?: Prefix }

export type InvocationId = Id<'inv'>
export type ProjectId = Id<'prj'>
export type KeyId = Id<'key'>

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/**
 * Creates an id that sorts by time: 48 bits of milliseconds, then 80 random bits.
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

/** The id of what a request made: that of the request, with another prefix (rules §2.2). */
export function idOfRequest<P extends string>(prefix: P, request: Id<'req'>): Id<P> {
  return `${prefix}${request.slice(3)}`
}

/** Returns when an id was created, by the clock of its creator, or null if it is not one of ours. */
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
 * Creates ids with `mintId`. Fetches random bytes for many ids at once: ten bytes cost as much as thousands.
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

// The secret of a key: `svc_`, 43 base62 characters of 32 random bytes, 6 characters of checksum (rules §6.1).
// The checksum lets garbage be refused without a look-up (architecture §S1).

export const KEY_SECRET_PREFIX = 'svc_'
export const USER_TOKEN_PREFIX = 'svu_'
export const ACCESS_TOKEN_PREFIX = 'svt_'
/** Of a session. It is good in its cookie alone, as a token is good in the Authorization header alone. */
export const SESSION_PREFIX = 'svs_'
type SecretPrefix =
  | typeof KEY_SECRET_PREFIX
  | typeof USER_TOKEN_PREFIX
  | typeof ACCESS_TOKEN_PREFIX
  | typeof SESSION_PREFIX
/** How much of a secret later views may show. */
export const SHOWN_CHARACTERS = 12

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SHAPE = /^(?:svc|svu|svt|svs)_[0-9A-Za-z]{49}$/

/** Makes a secret from 32 random bytes. */
export function makeSecret(prefix: SecretPrefix, random: Uint8Array): string {
  const body = base62(BigInt('0x' + Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('')), 43)
  return prefix + body + checksum(prefix + body)
}

/** Whether a text can be a secret of ours at all. Says nothing of whether it is known. */
export function isWellFormedSecret(prefix: SecretPrefix, text: string): boolean {
  return SHAPE.test(text) && text.startsWith(prefix) && text.slice(-6) === checksum(text.slice(0, -6))
}

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), 6)
}

function base62(value: bigint, width: number): string {
  let digits = ''
  for (let rest = value; digits.length < width; rest /= 62n) digits = BASE62[Number(rest % 62n)]! + digits
  return digits
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n
  for (let bit = 0; bit < 8; bit++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1
  return c >>> 0
})

/** CRC-32 (IEEE) of an ASCII text. */
function crc32(text: string): number {
  let crc = 0xffffffff
  for (let n = 0; n < text.length; n++) crc = CRC_TABLE[(crc ^ text.charCodeAt(n)) & 0xff]! ^ (crc >>> 8)
  return (crc ^ 0xffffffff) >>> 0
}
