import { createHmac, timingSafeEqual } from 'node:crypto'

// Time-based one-time passwords (RFC 6238), with what every authenticator app supports: SHA-1, six digits, 30 seconds.

const STEP_MS = 30_000
const DIGITS = 6
/** A code is accepted one step early and one step late, because clocks differ. */
const STEPS = [0, -1, 1]
export const SECRET_BYTES = 20

/** Returns the time step of a code of the app that fits, or null. A step up to `lastStep` was used before. */
export function matchingStep(
  secret: Uint8Array,
  code: string,
  { nowMs, lastStep }: { nowMs: number; lastStep: number },
): number | null {
  const now = Math.floor(nowMs / STEP_MS)
  // Each step is compared, so the time taken says nothing of which one fits.
  const fitting = STEPS.map((difference) => now + difference).filter((step) => equal(codeAt(secret, step), code))
  return fitting.find((step) => step > lastStep) ?? null
}

/** Code of a time step. */
export function codeAt(secret: Uint8Array, step: number, digits = DIGITS): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const hash = createHmac('sha1', secret).update(counter).digest()
  const number = hash.readUInt32BE(hash.at(-1)! & 0xf) & 0x7fff_ffff
  return String(number % 10 ** digits).padStart(digits, '0')
}

/** Address for the QR code of authenticator apps. */
export function otpauthUri(secret: Uint8Array, { issuer, account }: { issuer: string; account: string }): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`
  return `otpauth://totp/${label}?secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}`
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Base32 without padding (RFC 4648). */
export function base32(bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? []).map((five) => ALPHABET[Number.parseInt(five.padEnd(5, '0'), 2)]).join('')
}

function equal(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
