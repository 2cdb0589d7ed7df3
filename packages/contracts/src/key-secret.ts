// The secret of a key: `svc_`, 43 base62 characters of 32 random bytes, 6 characters of checksum (rules §6.1).
// The checksum lets garbage be refused without a look-up (architecture §S1).

export const KEY_SECRET_PREFIX = 'svc_'
export const PERSON_TOKEN_PREFIX = 'svu_'
export const ACCESS_TOKEN_PREFIX = 'svt_'
type SecretPrefix = typeof KEY_SECRET_PREFIX | typeof PERSON_TOKEN_PREFIX | typeof ACCESS_TOKEN_PREFIX
/** How much of a secret later views may show. */
export const SHOWN_CHARACTERS = 12

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SHAPE = /^(?:svc|svu|svt)_[0-9A-Za-z]{49}$/

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
