import { RateLimiterPrisma, RateLimiterRes } from 'rate-limiter-flexible'
import { refuse } from '@gateway/api/refusal'
import type { Database } from '@gateway/database/client'
import { hashOf } from './secret.ts'
import { isIPv6 } from 'node:net'

// Guessing passwords is slow by email together with address, by email alone and by address alone, so that neither many
// addresses nor many emails get round it. Counted in Postgres for all replicas, under hashes; a replica that has seen a
// count run out refuses by itself until it starts again.

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
  /** A user who has signed in starts again; the address does not. */
  succeeded(email: string, address: string): Promise<void>
  /**
   * Counts anything else an address may only try so often.
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

/** Deletes what an hour ago no longer counted. The library's own timer would outlive its database. Returns the number of rows. */
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

/** As long for any text, and nothing to read in a table of guesses. */
function hidden(text: string): string {
  return Buffer.from(hashOf(text)).toString('base64url')
}

/** The addresses of one subscriber: of IPv6 a whole /64, which would otherwise be 2^64 callers to a throttle. */
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
