import { RateLimiterPrisma, RateLimiterRes } from 'rate-limiter-flexible'
import { refuse } from '@gateway/api/refusal'
import type { Database } from '@gateway/database/client'
import { hashOf } from './secret.ts'
import { isIPv6 } from 'node:net'

// Limits password guesses by email with address, by email alone and by address alone, so neither many addresses nor
// many emails get around it. Counted in Postgres across replicas, under hashes. A replica that has seen a count run out
// refuses without asking Postgres until the count resets.

const LIMITS = {
  emailAndAddress: { points: 5, duration: 60 },
  email: { points: 50, duration: 600 },
  address: { points: 50, duration: 60 },
}

export interface Throttle {
  /**
   * Counts an attempt to sign in by password.
   * @throws Refusal `rate_limited`
   */
  attempt(email: string, address: string): Promise<void>
  /** Resets the counts of the user, but not of the address. */
  succeeded(email: string, address: string): Promise<void>
  /**
   * Counts other rate-limited attempts of an address.
   * @throws Refusal `rate_limited`
   */
  attemptFrom(address: string): Promise<void>
}

export function openThrottle({ prisma }: Pick<Database, 'prisma'>): Throttle {
  const limiter = (keyPrefix: string, limit: { points: number; duration: number }) => {
    const store = { storeClient: prisma, tableName: 'signInAttempt', clearExpiredByTimeout: false }
    return new RateLimiterPrisma({ ...store, ...limit, keyPrefix, inMemoryBlockOnConsumed: limit.points + 1 })
  }
  const both = limiter('both', LIMITS.emailAndAddress)
  const byEmail = limiter('email', LIMITS.email)
  const byAddress = limiter('address', LIMITS.address)
  const pair = (email: string, address: string) => hidden(`${addressBlock(address)} ${email}`)

  return {
    async attempt(email, address) {
      await slowly(async () => {
        await byAddress.consume(hidden(addressBlock(address)))
        await both.consume(pair(email, address))
        await byEmail.consume(hidden(email))
      })
    },
    async succeeded(email, address) {
      await both.delete(pair(email, address))
      await byEmail.delete(hidden(email))
    },
    attemptFrom: (address) => slowly(async () => void (await byAddress.consume(hidden(addressBlock(address))))),
  }
}

/** Deletes attempts an hour after they expire; the library's timer would outlive its database. Returns the number. */
export async function forgetAttempts({ prisma }: Pick<Database, 'prisma'>): Promise<number> {
  const { count } = await prisma.signInAttempt.deleteMany({
    where: { expire: { lt: new Date(Date.now() - 3_600_000) } },
  })
  return count
}

async function slowly(consume: () => Promise<void>): Promise<void> {
  try {
    await consume()
  } catch (error) {
    if (error instanceof RateLimiterRes) throw refuse('rate_limited', {}, { retryAfterMs: error.msBeforeNext })
    throw error
  }
}

/** Hashes a text to a fixed length, so the table reveals no emails or addresses. */
function hidden(text: string): string {
  return Buffer.from(hashOf(text)).toString('base64url')
}

/**
 * Returns the address block of one subscriber. For IPv6 that is a /64, otherwise 2^64 separate callers to a throttle.
 */
export function addressBlock(address: string): string {
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? []
  if (mapped) return mapped
  const [plain = ''] = address.split('%')
  if (!isIPv6(plain)) return address
  const [head = '', tail] = plain.split('::')
  const before = head.split(':').filter((part) => part !== '')
  const after = (tail ?? '').split(':').filter((part) => part !== '')
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length
  const parts = [...before, ...Array<string>(Math.max(0, zeros)).fill('0'), ...after]
  const network = parts.slice(0, 4).map((part) => Number.parseInt(part, 16).toString(16))
  return `${network.join(':')}::/64`
}
