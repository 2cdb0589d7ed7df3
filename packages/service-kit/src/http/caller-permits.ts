import { createHash } from 'node:crypto'

// Permits of the requests of people and programs, taken before their credentials are checked.
//   H1  A credential that was accepted before counts towards its user, any other towards the address of its caller. That
//       authorizes nothing: the credential is checked at each request.
//   H2  Requests of known callers, those of unknown ones, and revocations by known ones have separate permits. So no
//       crowd of requests, with forged credentials or without, keeps a leaked key from being revoked.

export interface CallerPermits {
  /** The user of a credential; null if it is not known. */
  userOf(credential: string | null): string | null
  /** Takes a permit for a request. @throws the error of `whenFull` */
  acquire(request: PermitRequest): Permit
  /** Notes that a credential was accepted as one of this user. */
  know(credential: string, user: string): void
  /** Notes that a credential was refused. */
  forget(credential: string): void
  /** Permits held, by kind. */
  counts(): Record<PermitKind, number>
}

export interface PermitRequest {
  /** As returned by `credentialOf`; null if the request has none. */
  credential: string | null
  /** Address of the caller, as `countedAddress` returns it. */
  address: string
  /** Whether it takes access away (packages/api/src/api/request-kinds.ts). */
  revokes: boolean
}

export type PermitKind = 'known' | 'unknown' | 'revocation'

interface Options {
  /** Maximum for known callers together; as many again for unknown ones. */
  maxPermits: number
  /** Maximum per known caller. An address, behind which there may be many callers, has no maximum but its share. */
  maxOfCaller: number
  /** The error for a request without a permit. `hasMaximum`: its user has as many as a user may ever have. */
  whenFull: (hasMaximum: boolean) => Error
}

/**
 * Response header in which the console names the user or token that it has authenticated. The gateway reads it and
 * removes it from the response. A caller can't set it: it is never read from a request.
 */
export const CALLER_HEADER = 'x-service-caller'

/** Permits of revocations, which are short and rare. */
export const REVOCATION_PERMITS = 64
const REVOCATIONS_OF_CALLER = 8
const MAX_KNOWN = 50_000

export function openCallerPermits({ maxPermits, maxOfCaller, whenFull }: Options): CallerPermits {
  const known = new Map<string, string>() // user by credential, least recently used first
  const limiters: Record<PermitKind, ConcurrencyLimiter> = {
    known: openConcurrencyLimiter({ maxPermits, maxOfParty: maxOfCaller, whenFull }),
    unknown: openConcurrencyLimiter({ maxPermits, whenFull: () => whenFull(false) }),
    revocation: openConcurrencyLimiter({
      maxPermits: REVOCATION_PERMITS,
      maxOfParty: REVOCATIONS_OF_CALLER,
      whenFull,
    }),
  }

  function know(credential: string, user: string): void {
    known.delete(credential)
    known.set(credential, user)
    if (known.size <= MAX_KNOWN) return
    for (const oldest of known.keys()) return void known.delete(oldest)
  }

  function userOf(credential: string | null): string | null {
    const user = credential === null ? undefined : known.get(credential)
    if (user === undefined) return null
    know(credential!, user)
    return user
  }

  return {
    userOf,
    acquire({ credential, address, revokes }) {
      const user = userOf(credential)
      const kind = user === null ? 'unknown' : revokes ? 'revocation' : 'known' // H2
      return limiters[kind].acquire(user ?? `address ${address}`) // H1
    },
    know,
    forget: (credential) => void known.delete(credential),
    counts: () => ({
      known: limiters.known.count(),
      unknown: limiters.unknown.count(),
      revocation: limiters.revocation.count(),
    }),
  }
}

/** Returns what identifies the credential of a request without being one. */
export function credentialOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64')
}

// Limit on concurrent work, shared between parties such as projects or users.
//   P1  At most `maxPermits` in total. One party can hold at most SHARE times the free permits, so the busier the
//       process, the fewer a party can hold. A busy party always leaves a permit for a party that holds none, and
//       parties that together want more than there are converge to equal shares.
//   P2  A permit is held until the work is done and the response is sent, even if the caller has disconnected.

export interface ConcurrencyLimiter {
  /**
   * @param maxOfParty of this party, instead of the maximum of all
   * @throws the error of `whenFull`
   */
  acquire(party: string, maxOfParty?: number): Permit
  /** Number of permits held. */
  count(): number
}

export interface Permit {
  /** Calls `giveBack` on release; immediately if already released. */
  onRelease(giveBack: () => void): void
  /** Idempotent. */
  release(): void
}

interface LimiterOptions {
  maxPermits: number
  /** Maximum per party, regardless of load. */
  maxOfParty?: number | undefined
  /** The error for a party without a permit. `hasMaximum`: it holds `maxOfParty`, regardless of load. */
  whenFull: (hasMaximum: boolean, maxOfParty: number) => Error
}

const SHARE = 4

export function openConcurrencyLimiter({
  maxPermits,
  maxOfParty: usual = maxPermits,
  whenFull,
}: LimiterOptions): ConcurrencyLimiter {
  const acquired = new Map<string, number>() // by party
  let total = 0

  function add(party: string, permits: 1 | -1): void {
    total += permits
    const sum = (acquired.get(party) ?? 0) + permits
    if (sum === 0) acquired.delete(party)
    else acquired.set(party, sum)
  }

  return {
    acquire(party, maxOfParty = usual) {
      const held = acquired.get(party) ?? 0
      if (held >= Math.min(maxOfParty, SHARE * (maxPermits - total))) throw whenFull(held >= maxOfParty, maxOfParty) // P1
      add(party, 1)
      let released = false
      const givesBack: (() => void)[] = []
      return {
        onRelease(giveBack) {
          if (released) giveBack()
          else givesBack.push(giveBack)
        },
        release() {
          if (released) return
          released = true
          for (const giveBack of givesBack) giveBack()
          add(party, -1)
        },
      }
    },
    count: () => total,
  }
}
