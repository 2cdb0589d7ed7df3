import { argon2, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { openFairSemaphore } from '@gateway/service-kit/async/fair-semaphore'
import { addressBlock } from '@gateway/service-kit/http/connections'
import { refuse } from '@gateway/api/refusal'
import type { Attempt } from './throttle/throttle.ts'

// Passwords are stored as argon2id in PHC format, $argon2id$v=19$m=…,t=…,p=…$salt$hash, so the cost can be raised later
// without invalidating old hashes. The cost is the minimum OWASP recommends: 19 MiB, two passes. Hashing runs on Node's
// thread pool; half of its four threads stay free for DNS lookups and file reads. Those who wait take turns, so a crowd
// that guesses delays others by one hash each.

const derive = promisify(argon2)
const COST = { memory: 19_456, passes: 2, parallelism: 1 }
const HASH_BYTES = 32
const SALT_BYTES = 16

/** Whose turn a hash takes. A lower rank comes first (T7 in throttle/decide-wait.ts). */
export type HashTurn = readonly [rank: number, addressBlock: string, user: string]

export interface Passwords {
  /** Returns the hash to store. @throws Refusal `overloaded` */
  hash(turn: HashTurn, password: string): Promise<string>
  /**
   * Takes the same time for an unknown user or one without a password as for a wrong password.
   * @throws Refusal `overloaded`
   */
  fits(turn: HashTurn, password: string, stored: string | null): Promise<boolean>
}

interface Options {
  random: (bytes: number) => Uint8Array<ArrayBuffer>
  /** Hashes at the same time. */
  permits?: number
  /** Hashes that wait; further ones are refused. */
  maxWaiting?: number
}

export function openPasswords({ random, permits = 2, maxWaiting = 512 }: Options): Passwords {
  const semaphore = openFairSemaphore({ permits, maxWaiting, whenFull: () => refuse('overloaded', {}) })
  return {
    hash: ([rank, ...party], password) => semaphore.run(party, () => hashPassword(password, random(SALT_BYTES)), rank),
    fits: ([rank, ...party], password, stored) => semaphore.run(party, () => passwordFits(password, stored), rank),
  }
}

/**
 * Compares a password as an attempt, which counts as a failure unless it fits, or is refused before it is compared.
 * @throws Refusal `overloaded`
 */
export async function tryPassword(
  passwords: Pick<Passwords, 'fits'>,
  attempt: Attempt,
  { address, user }: { address: string | undefined; user: string },
  password: string,
  stored: string | null,
): Promise<boolean> {
  let fits
  try {
    fits = await passwords.fits([attempt.rank, addressBlock(address ?? ''), user], password, stored)
  } catch (error) {
    await attempt.withdrawn()
    throw error
  }
  if (fits) await attempt.succeeded()
  return fits
}

async function hashPassword(password: string, salt: Uint8Array): Promise<string> {
  const hash = await derive('argon2id', { message: plain(password), nonce: salt, tagLength: HASH_BYTES, ...COST })
  const { memory, passes, parallelism } = COST
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${text(salt)}$${text(hash)}`
}

const phc =
  /^\$argon2id\$v=19\$m=(?<memory>\d+),t=(?<passes>\d+),p=(?<parallelism>\d+)\$(?<salt>[A-Za-z0-9+/]+)\$(?<hash>[A-Za-z0-9+/]+)$/

async function passwordFits(password: string, stored: string | null): Promise<boolean> {
  const read = phc.exec(stored ?? DUMMY_HASH)?.groups as Record<
    'memory' | 'passes' | 'parallelism' | 'salt' | 'hash',
    string
  >
  const expected = Buffer.from(read.hash, 'base64')
  const hash = await derive('argon2id', {
    message: plain(password),
    nonce: Buffer.from(read.salt, 'base64'),
    memory: Number(read.memory),
    passes: Number(read.passes),
    parallelism: Number(read.parallelism),
    tagLength: expected.length,
  })
  return timingSafeEqual(hash, expected) && stored !== null
}

/** Takes as long to verify as a real hash, and no password is known for it. */
const DUMMY_HASH = `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=${COST.parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`

/** Normalizes a password, because keyboards compose the same letters differently. */
function plain(password: string): string {
  return password.normalize('NFKC')
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replace(/=+$/, '')
}
