import { LRUCache } from 'lru-cache'
import { RateLimiterPrisma, RateLimiterRes } from 'rate-limiter-flexible'
import { Refusal } from '@gateway/api/refusal'
import type { Database } from '@gateway/database/client'
import { addressBlock } from '@gateway/service-kit/http/connections'
import type { Transaction } from '../../audit/record-change.ts'
import { hashOf } from '../secret.ts'
import {
  type Failures,
  FORGOTTEN_MS,
  NO_FAILURES,
  KNOWN_DEVICE,
  rankOf,
  waitOfKnownDevice,
  waitOfNewDevice,
  withDrop,
  withFailure,
} from './decide-wait.ts'

// Slows down password guesses (decide-wait.ts). Counted in Postgres across replicas, under hashes.
//   C1  An attempt counts as a failure when it is admitted, and success takes it back: parallel guesses gain nothing.
//   C2  A refused attempt costs one read: no lock, no write and no password hash.
//   C3  Attempts for one email take turns before they take a connection: a crowd of them waits on one, not on all.

/** Who tries a password. */
export interface Guesser {
  email: string
  address: string
  /** Identifies a known device of the user with this email; null: a new one. */
  device: string | null
}

/** An admitted attempt. */
export interface Attempt {
  /** When many wait to be hashed, a lower rank is served first. */
  rank: number
  /** Takes the failure back (C1). */
  succeeded(): Promise<void>
  /** Takes back only this failure: nothing was compared. */
  withdrawn(): Promise<void>
}

export interface Throttle {
  /**
   * Admits an attempt to sign in by password.
   * @throws Refusal `rate_limited`
   */
  attempt(guesser: Guesser): Promise<Attempt>
  /**
   * Admits an attempt of a signed-in user to prove the current password. Only their own failures count.
   * @throws Refusal `rate_limited`
   */
  attemptOf(user: string): Promise<Attempt>
  /**
   * Counts other requests of an address without a credential.
   * @throws Refusal `rate_limited`
   */
  attemptFrom(address: string): Promise<void>
  /**
   * Counts mails, such as those to one email.
   * @throws Refusal `rate_limited`
   */
  mail(to: string, limit: { points: number; duration: number }): Promise<void>
}

/** A counter, and how a failure changes it. */
type Counters = Record<string, { key: string; grow: (failures: Failures, nowMs: number) => Failures }>
type Counts<C extends Counters> = Record<keyof C, Failures>

interface Options extends Pick<Database, 'prisma'> {
  now: () => Date
  /** Of an address without a credential, in addition to failed passwords, in a minute. */
  maxRequests: number
}

export function openThrottle({ prisma, now, maxRequests }: Options): Throttle {
  const store = { storeClient: prisma, tableName: 'signInAttempt', clearExpiredByTimeout: false }
  const limiter = (keyPrefix: string, limit: { points: number; duration: number }) =>
    new RateLimiterPrisma({ ...store, ...limit, keyPrefix, inMemoryBlockOnConsumed: limit.points + 1 })
  const requests = limiter('address', { points: maxRequests, duration: 60 })
  const oneAtATime = openTurns()
  const withdrawn = new LRUCache<string, number>({ max: 10_000 })

  /** Counts a failure unless it has to wait (C1, C2, C3). `unhindered` says what does not wait. */
  async function admit<C extends Counters>(
    turn: string,
    counters: C,
    waitOf: (counts: Counts<C>, nowMs: number) => number,
    unhindered: string,
  ): Promise<{ counts: Counts<C>; withdrawn: () => Promise<void> }> {
    const require = (counts: Counts<C>) => {
      const waitMs = waitOf(counts, now().getTime())
      if (waitMs > 0) throw tooManyAttempts(waitMs, unhindered)
    }
    require(await read(prisma, counters))
    return oneAtATime(turn, () =>
      prisma.$transaction(async (tx) => {
        const counts = await lock(tx, counters)
        require(counts)
        const atMs = now().getTime()
        await write(tx, counters, counts, atMs)
        return { counts, withdrawn: () => withdraw(prisma, withdrawn, counters, counts, atMs) }
      }),
    )
  }

  async function attemptAt(key: string, unhindered: string): Promise<Attempt> {
    const counters = { device: { key, grow: withFailure } }
    const waitOf = ({ device }: Counts<typeof counters>, nowMs: number) => waitOfKnownDevice(device, nowMs)
    const { withdrawn } = await admit(key, counters, waitOf, unhindered)
    return { rank: KNOWN_DEVICE, succeeded: () => forget(prisma, [key], []), withdrawn }
  }

  return {
    async attempt({ email, address, device }) {
      if (device !== null)
        return attemptAt(keyOf('device', device), 'Single sign-on and a link to reset the password do not wait.')
      await slowly(requests, address)
      const block = addressBlock(address)
      const counters = {
        pair: { key: keyOf('both', `${block} ${email}`), grow: withFailure },
        email: { key: keyOf('email', email), grow: withDrop },
        address: { key: keyOf('failed', block), grow: withFailure },
      }
      const { counts, withdrawn } = await admit(
        counters.email.key,
        counters,
        waitOfNewDevice,
        'A device on which you have signed in before, single sign-on and a link to reset the password do not wait.',
      )
      return {
        rank: rankOf(counts.address, now().getTime()),
        succeeded: () => forget(prisma, [counters.pair.key], [counters.email.key, counters.address.key]),
        withdrawn,
      }
    },
    attemptOf: (user) => attemptAt(keyOf('user', user), 'A link to reset the password does not wait.'),
    attemptFrom: (address) => slowly(requests, address),
    mail: (to, limit) => consume(limiter('mail', limit), to),
  }
}

/** Runs work under the same name one after the other. */
function openTurns() {
  const newest = new Map<string, Promise<unknown>>()
  return async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const mine = (newest.get(name) ?? Promise.resolve()).then(work, work)
    newest.set(name, mine)
    try {
      return await mine
    } finally {
      if (newest.get(name) === mine) newest.delete(name)
    }
  }
}

interface Row {
  key: string
  level: number
  at: Date
}

async function read<C extends Counters>(prisma: Database['prisma'], counters: C): Promise<Counts<C>> {
  return countsIn(counters, await prisma.signInFailure.findMany({ where: { key: { in: keysOf(counters) } } }))
}

/** Reads the counters, and locks them until the transaction ends. */
async function lock<C extends Counters>(tx: Transaction, counters: C): Promise<Counts<C>> {
  const keys = keysOf(counters)
  await tx.$executeRaw`
    INSERT INTO control.sign_in_failures
    SELECT key, 0, 'epoch' FROM unnest(${keys}::text[]) AS key ORDER BY key ON CONFLICT DO NOTHING`
  const rows = await tx.$queryRaw<Row[]>`
    SELECT key, level, at FROM control.sign_in_failures WHERE key = ANY(${keys}) ORDER BY key FOR UPDATE`
  return countsIn(counters, rows)
}

function countsIn<C extends Counters>(counters: C, rows: Row[]): Counts<C> {
  const found = new Map(rows.map(({ key, level, at }) => [key, { level, atMs: at.getTime() }]))
  const counts = Object.entries(counters).map(([name, { key }]) => [name, found.get(key) ?? NO_FAILURES])
  return Object.fromEntries(counts) as Counts<C>
}

async function write<C extends Counters>(tx: Transaction, counters: C, counts: Counts<C>, nowMs: number) {
  const grown = Object.entries(counters).map(([name, { key, grow }]) => ({ key, ...grow(counts[name]!, nowMs) }))
  const keys = grown.map(({ key }) => key)
  const levels = grown.map(({ level }) => level)
  await tx.$executeRaw`
    INSERT INTO control.sign_in_failures
    SELECT key, level, ${new Date(nowMs)}
      FROM unnest(${keys}::text[], ${levels}::double precision[]) AS grown (key, level) ORDER BY key
    ON CONFLICT (key) DO UPDATE SET level = excluded.level, at = excluded.at`
}

/** Deletes counters after a success, and takes one failure back from others. */
async function forget(prisma: Database['prisma'], deleted: string[], lowered: string[]): Promise<void> {
  await prisma.signInFailure.deleteMany({ where: { key: { in: deleted } } })
  for (const key of lowered)
    await prisma.$executeRaw`UPDATE control.sign_in_failures SET level = greatest(level - 1, 0) WHERE key = ${key}`
}

/**
 * Takes a failure of `atMs` back, so that it delays no further attempt. What delays then is the failure before it that
 * was not withdrawn: attempts overlap, and `withdrawn` has the time before each one that was. A bucket keeps its time,
 * because its level is what is left of it at that time.
 */
async function withdraw<C extends Counters>(
  prisma: Database['prisma'],
  withdrawn: LRUCache<string, number>,
  counters: C,
  before: Counts<C>,
  atMs: number,
): Promise<void> {
  for (const [name, { key, grow }] of Object.entries(counters)) {
    let lastMs = before[name]!.atMs
    if (lastMs !== atMs) withdrawn.set(`${key} ${atMs}`, lastMs)
    for (let earlierMs; (earlierMs = withdrawn.get(`${key} ${lastMs}`)) !== undefined;) lastMs = earlierMs
    const [own, last] = [new Date(atMs), new Date(grow === withDrop ? atMs : lastMs)]
    await prisma.$executeRaw`
      UPDATE control.sign_in_failures
         SET level = greatest(level - 1, 0), at = CASE WHEN at = ${own} THEN ${last} ELSE at END WHERE key = ${key}`
  }
}

/** In the order in which they are locked, so that attempts do not wait for each other in a circle. */
function keysOf(counters: Counters): string[] {
  return Object.values(counters)
    .map(({ key }) => key)
    .toSorted()
}

/** Deletes counts that no longer delay anyone; the library's timer would outlive its database. Returns the number. */
export async function forgetAttempts({ prisma }: Pick<Database, 'prisma'>): Promise<number> {
  const before = (ms: number) => new Date(Date.now() - ms)
  const requests = await prisma.signInAttempt.deleteMany({ where: { expire: { lt: before(3_600_000) } } })
  // A full bucket takes 62 hours to drain.
  const failures = await prisma.signInFailure.deleteMany({ where: { at: { lt: before(3 * FORGOTTEN_MS) } } })
  return requests.count + failures.count
}

/**
 * Reports the whole wait, and asks clients that retry by themselves not to.
 * @param unhindered names the ways that do not wait
 */
function tooManyAttempts(waitMs: number, unhindered: string): Refusal {
  return new Refusal('rate_limited', 'Too many failed sign-ins.', `Retry after Retry-After seconds. ${unhindered}`, {
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1_000))), 'x-should-retry': 'false' },
  })
}

function tooManyRequests(retryAfterMs: number): Refusal {
  const resolution = `Retry in ${Math.ceil(retryAfterMs / 1_000)} seconds, and send requests less often.`
  return new Refusal('rate_limited', 'Too many requests.', resolution, { retryAfterMs })
}

const slowly = (limiter: RateLimiterPrisma, address: string) => consume(limiter, addressBlock(address))

async function consume(limiter: RateLimiterPrisma, what: string): Promise<void> {
  try {
    await limiter.consume(hidden(what))
  } catch (error) {
    throw error instanceof RateLimiterRes ? tooManyRequests(error.msBeforeNext) : error
  }
}

function keyOf(kind: string, of: string): string {
  return `${kind}:${hidden(of)}`
}

/** Hashes a text to a fixed length, so the tables reveal no emails or addresses. */
function hidden(text: string): string {
  return Buffer.from(hashOf(text)).toString('base64url')
}
