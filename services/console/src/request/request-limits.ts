import type { Response } from 'express'
import { Refusal, refuse } from '@gateway/api/refusal'
import {
  openConcurrencyLimiter,
  type Permit,
  openCallerPermits,
  type PermitKind,
  type PermitRequest,
} from '@gateway/service-kit/http/caller-permits'
import { ClientDisconnected } from '@gateway/service-kit/http/read-body'
import type { ConsoleConfig } from '../config.ts'
import type { User } from '../sign-in/user.ts'
import { AsyncLocalStorage } from 'node:async_hooks'
import { openFairSemaphore } from '@gateway/service-kit/async/fair-semaphore'
import { openSemaphore, type Semaphore } from '@gateway/service-kit/async/semaphore'

// Limits on concurrent requests, so that no user, token or organization stops the console for the others.
//   Q1  A request takes a permit before the database is asked. One whose credential is not known yet counts towards its
//       address, and towards its user once the credential was accepted (service-kit, http/caller-permits.ts).
//   Q2  A permit is held until the handler is done and the response is sent, even if the client has disconnected.
//   Q3  A request counts towards an organization if its user was answered there within the last minute: a stranger who
//       names the organization takes none of its permits.
//   Q4  A revocation counts towards its user alone, whose credential is known. Its permits and its connections to the
//       database are separate.
//   Q5  A request that follows an execution takes as long as the execution, so it takes the permit of a follower. It
//       counts towards the organization once its user is authorized there, before anything starts.

type Settings = Pick<
  ConsoleConfig,
  | 'MAX_CONCURRENT_REQUESTS'
  | 'MAX_CONCURRENT_REQUESTS_PER_USER'
  | 'MAX_CONCURRENT_REQUESTS_PER_TENANT'
  | 'MAX_FOLLOWERS'
  | 'MAX_FOLLOWERS_PER_USER'
>

export interface AskedPermits extends PermitRequest {
  /** Whether it follows an execution (packages/api/src/api/request-kinds.ts). */
  follows: boolean
  /** The organization in the path; null if there is none. */
  tenant: string | null
}

export interface RequestLimits {
  /**
   * Takes the permits of a request.
   * @throws Refusal `overloaded`
   */
  begin(asked: AskedPermits): Begun
  /**
   * Takes the permits of a request whose credential was not known and has just been accepted.
   * @throws Refusal `overloaded`
   */
  accepted(asked: AskedPermits, user: User): Permit[]
  /** Notes that a credential was refused. */
  refused(asked: AskedPermits): void
  /** Notes that a request of this user had a success response. */
  answered(asked: AskedPermits, user: User): void
  /** Takes the permit of a follower from an organization. @throws Refusal `overloaded` */
  followIn(tenant: string): Permit
  counts(): Record<PermitKind | 'follower', number>
}

export interface Begun {
  permits: Permit[]
  /** The user of a known credential. */
  user: string | null
}

/** The limit that a refused request had reached. */
export type ReachedLimit = 'user' | 'tenant' | 'followers' | 'total'

const MEMBER_FOR_MS = 60_000
const MAX_MEMBERS = 50_000

/** @param overloaded called with each refusal */
export function openRequestLimits(
  settings: Settings,
  { now, overloaded }: { now: () => Date; overloaded: (limit: ReachedLimit) => void },
): RequestLimits {
  const refusal = (limit: ReachedLimit, wrong: string, resolution: string) => {
    overloaded(limit)
    return new Refusal('overloaded', wrong, resolution)
  }
  const anyone = () => {
    overloaded('total')
    return refuse('overloaded', {})
  }
  const ofTenant = () =>
    refusal(
      'tenant',
      'The users and tokens of this organization have as many requests in progress as they may have.',
      'Retry after Retry-After seconds, with fewer requests at a time.',
    )

  const callers = openCallerPermits({
    maxPermits: settings.MAX_CONCURRENT_REQUESTS,
    maxOfCaller: settings.MAX_CONCURRENT_REQUESTS_PER_USER,
    whenFull: (hasMaximum) =>
      hasMaximum
        ? refusal(
            'user',
            'This user or token has as many requests in progress as it may have.',
            'Wait until one of them is answered, then send this request again.',
          )
        : anyone(),
  })
  const tenants = openConcurrencyLimiter({
    maxPermits: settings.MAX_CONCURRENT_REQUESTS,
    maxOfParty: settings.MAX_CONCURRENT_REQUESTS_PER_TENANT,
    whenFull: ofTenant,
  })
  const followers = openConcurrencyLimiter({
    maxPermits: settings.MAX_FOLLOWERS,
    maxOfParty: settings.MAX_FOLLOWERS_PER_USER,
    whenFull: (hasMaximum) =>
      hasMaximum
        ? refusal(
            'followers',
            `This user or token follows ${settings.MAX_FOLLOWERS_PER_USER} executions, as many as it may follow.`,
            'Wait until one of them has ended, or close the request that follows it, then send this request again.',
          )
        : anyone(),
  })
  const followersOfTenants = openConcurrencyLimiter({ maxPermits: settings.MAX_FOLLOWERS, whenFull: ofTenant })

  const members = new Map<string, number>() // until when, by user and organization (Q3), oldest first
  const isMember = (user: string, tenant: string) => (members.get(`${user} ${tenant}`) ?? 0) > now().getTime()

  function begin(asked: AskedPermits): Begun {
    const { tenant, revokes, follows } = asked
    const user = callers.userOf(asked.credential)
    if (user !== null && follows) return { permits: [followers.acquire(user)], user } // Q5
    const permit = callers.acquire(asked) // Q1
    if (user === null || tenant === null || revokes || !isMember(user, tenant)) return { permits: [permit], user }
    try {
      return { permits: [permit, tenants.acquire(tenant)], user }
    } catch (error) {
      permit.release()
      throw error
    }
  }

  return {
    begin,
    accepted(asked, { id }) {
      if (asked.credential !== null) callers.know(asked.credential, id)
      return begin(asked).permits
    },
    refused({ credential }) {
      if (credential !== null) callers.forget(credential)
    },
    answered({ tenant }, { id, platformOperator }) {
      if (tenant === null || platformOperator) return
      const member = `${id} ${tenant}`
      members.delete(member)
      members.set(member, now().getTime() + MEMBER_FOR_MS)
      if (members.size <= MAX_MEMBERS) return
      for (const oldest of members.keys()) return void members.delete(oldest)
    },
    followIn: followersOfTenants.acquire,
    counts: () => ({ ...callers.counts(), follower: followers.count() }),
  }
}

/** The permits of one request. */
export interface HeldPermits {
  asked: AskedPermits
  /** The known user, or else the address. */
  party: string
  isKnown: boolean
  /** Holds these permits from now on, and releases the ones before. */
  exchange(permits: Permit[]): void
  add(permit: Permit): void
  /**
   * Runs work of the request under its permits (Q2).
   * @throws ClientDisconnected
   */
  during<T>(work: () => T | Promise<T>): Promise<T>
}

/** Holds the permits of a request until its work is done and its response is sent (Q2). */
export function holdPermits(res: Response, asked: AskedPermits, { permits, user }: Begun): HeldPermits {
  let held = permits
  let reasons = 1
  const done = () => {
    if (--reasons === 0) for (const permit of held) permit.release()
  }
  res.once('close', done)
  const holding: HeldPermits = {
    asked,
    party: user ?? asked.address,
    isKnown: user !== null,
    exchange(next) {
      const before = held
      held = next
      for (const permit of before) permit.release()
    },
    add: (permit) => void held.push(permit),
    async during(work) {
      if (reasons === 0) throw new ClientDisconnected()
      reasons++
      try {
        return await work()
      } finally {
        done()
      }
    },
  }
  res.locals['permits'] = holding
  return holding
}

/** Returns what `holdPermits` holds, which must run before. */
export function permitsOf(res: Pick<Response, 'locals'>): HeldPermits {
  return res.locals['permits'] as HeldPermits
}

/**
 * Counts a follower towards the organization in which its user was authorized (Q5).
 * @throws Refusal `overloaded`
 */
export function followIn({ requestLimits }: { requestLimits: RequestLimits }, res: Response, tenant: string): void {
  permitsOf(res).add(requestLimits.followIn(tenant))
}

// Turns at the connections to the database, shared by the users of the requests.
//   D1  A user or token has at most half of the connections, so that others find one free when its queries are slow.
//   D2  Users with waiting queries take turns.
//   D3  A query that gets no connection in time fails, as it would in a pool that is exhausted.

/** Whose queries these are. A request's party changes once its credential was accepted. */
interface Querier {
  party: string
}

const queriers = new AsyncLocalStorage<Querier>()

/** Runs work whose queries take the turns of a party. */
export function queryAs<T>(querier: Querier, work: () => T): T {
  return queriers.run(querier, work)
}

const WAIT_MS = 3_000

/** Returns the `takeTurn` of a pool with this number of connections. */
export function openConnectionTurns(connections: number, waitMs = WAIT_MS): () => Promise<() => void> {
  const unlimited = { maxWaiting: Infinity, whenFull: () => new Error('never full') }
  const all = openFairSemaphore({ permits: connections, ...unlimited })
  const maxOfParty = Math.max(1, Math.floor(connections / 2)) // D1
  const ofParties = new Map<string, { turns: Semaphore; queries: number }>()

  async function inTurn(party: string, query: () => Promise<void>): Promise<void> {
    const own = ofParties.get(party) ?? { turns: openSemaphore({ permits: maxOfParty, ...unlimited }), queries: 0 }
    ofParties.set(party, own)
    own.queries++
    await own.turns.run(() => all.run(party, query)) // D2
    if (--own.queries === 0) ofParties.delete(party)
  }

  return () => {
    const turn = Promise.withResolvers<() => void>()
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      turn.reject(new Error('timeout exceeded when trying to connect')) // D3, as pg says it
    }, waitMs)
    void inTurn(queriers.getStore()?.party ?? '', async () => {
      clearTimeout(timer)
      if (!isLate) await new Promise<void>((giveBack) => turn.resolve(giveBack))
    })
    return turn.promise
  }
}
