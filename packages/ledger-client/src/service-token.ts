import { createSecretKey, type KeyObject } from 'node:crypto'
import { decodeJwt, errors, jwtVerify, SignJWT, type JWTPayload } from 'jose'
import { LRUCache } from 'lru-cache'
import type { ServiceName } from '@gateway/ledger-protocol/ledger-reads'
import type { Logger } from '@gateway/service-kit/process/logger'

// How a service proves its identity to the ledger: a JWT of five minutes, signed with a secret that only the two know.
//   T1  A leaked token is worth its lifetime plus the clock tolerance, and the permissions of one service.
//   T2  The clocks of two machines may differ by TOLERANCE_S, in either direction. The lifetime of a token is set by
//       its signer alone (`exp - iat`), independent of any clock. Differences are logged, whether they matter yet or
//       not.
//   T3  A service may have several valid secrets: while one is replaced, the old one and the new one.

export interface TokenSource {
  /** Returns a token that is valid for at least another minute. */
  current(): Promise<string>
  /** Drops the current token, so that the next one is newly signed. */
  renew(): void
}

/** Returns the service that signed a token, or null if it is unknown, forged, expired or not for the ledger. */
export type TokenVerifier = (token: string) => Promise<ServiceName | null>

const AUDIENCE = 'ledger'
const LIFETIME_S = 300
const RENEW_BEFORE_MS = 60_000
/** T2 */
const TOLERANCE_S = 600
/** Larger clock differences are logged, from time to time for each service. */
const NOTABLE_S = 30
const REPORT_EVERY_MS = 60_000
const CACHED_TOKENS = 1_000
const SECRET_CHARACTERS = 32

/**
 * Signs the tokens of one service.
 * @param now Unix milliseconds
 * @throws Error when the secret has fewer than 32 characters
 */
export function openTokenSource({
  service,
  secret,
  now,
}: {
  service: ServiceName
  secret: string
  now: () => number
}): TokenSource {
  const key = keyOf(service, secret)
  let token: Promise<string> | null = null
  let goodUntilMs = 0

  return {
    current() {
      const nowMs = now()
      if (token === null || nowMs >= goodUntilMs) {
        const issuedAt = Math.floor(nowMs / 1000)
        goodUntilMs = (issuedAt + LIFETIME_S) * 1000 - RENEW_BEFORE_MS
        token = new SignJWT()
          .setProtectedHeader({ alg: 'HS256' })
          .setIssuer(service)
          .setAudience(AUDIENCE)
          .setIssuedAt(issuedAt)
          .setExpirationTime(issuedAt + LIFETIME_S)
          .sign(key)
      }
      return token
    },
    renew() {
      token = null
    },
  }
}

interface VerifierOptions {
  /** Secrets with which each service may sign, the current one first (T3). */
  secrets: Partial<Record<ServiceName, readonly string[]>>
  /** Unix milliseconds. */
  now: () => number
  log: Pick<Logger, 'warn' | 'error'>
}

/**
 * Verifies the tokens of the services whose secrets it is given. A verified token is cached until it expires.
 * @throws Error when a secret has fewer than 32 characters
 */
export function openTokenVerifier({ secrets, now, log }: VerifierOptions): TokenVerifier {
  const keys = new Map(
    Object.entries(secrets).map(([service, some]) => [service, some.map((secret) => keyOf(service, secret))]),
  )
  const verifiedTokens = new LRUCache<string, { service: ServiceName; expiresAtMs: number }>({ max: CACHED_TOKENS })
  const reportedMs = new Map<string, number>()

  return async (token) => {
    const nowMs = now()
    const cached = verifiedTokens.get(token)
    if (cached && nowMs < cached.expiresAtMs) return cached.service
    const signed = await readToken(token, keys)
    if (signed === null) return null
    const { service, issuedAtS, expiresAtS } = signed
    const expiresAtMs = (expiresAtS + TOLERANCE_S) * 1000
    const refused = issuedAtS - TOLERANCE_S > nowMs / 1000 || nowMs >= expiresAtMs
    reportClocks(service, clocksApartS(issuedAtS, nowMs / 1000), refused)
    if (refused) return null
    verifiedTokens.set(token, { service, expiresAtMs })
    return service
  }

  /** T2 */
  function reportClocks(service: ServiceName, apartS: number, refused: boolean): void {
    if (Math.abs(apartS) <= NOTABLE_S || now() < (reportedMs.get(service) ?? -Infinity) + REPORT_EVERY_MS) return
    reportedMs.set(service, now())
    const message = `clocks of ${service} and ledger differ`
    if (refused) log.error({ service, apartS, toleratedS: TOLERANCE_S }, `${message}, its tokens are refused`)
    else log.warn({ service, apartS, toleratedS: TOLERANCE_S }, message)
  }
}

/** Minimum seconds by which the signer's clock is ahead; negative: behind. A token is used until it is renewed. */
function clocksApartS(issuedAtS: number, nowS: number): number {
  const aheadS = Math.floor(issuedAtS - nowS)
  const behindS = Math.floor(nowS - issuedAtS - (LIFETIME_S - RENEW_BEFORE_MS / 1000))
  return aheadS > 0 ? aheadS : behindS > 0 ? -behindS : 0
}

/** Returns the signer and the times of a token without checking the times; null if none of our services signed it. */
async function readToken(
  token: string,
  keys: Map<string, KeyObject[]>,
): Promise<{ service: ServiceName; issuedAtS: number; expiresAtS: number } | null> {
  try {
    const service = decodeJwt(token).iss ?? '' // only selects the keys to try
    for (const key of keys.get(service) ?? []) {
      const payload = await readSigned(token, key, service)
      if (payload === null) continue
      const { iat: issuedAtS = NaN, exp: expiresAtS = NaN } = payload
      const lifetimeS = expiresAtS - issuedAtS
      return lifetimeS > 0 && lifetimeS <= LIFETIME_S
        ? { service: service as ServiceName, issuedAtS, expiresAtS }
        : null
    }
    return null
  } catch {
    return null
  }
}

/** Returns its payload; null if another secret has signed it. */
async function readSigned(token: string, key: KeyObject, issuer: string): Promise<JWTPayload | null> {
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: ['HS256'],
      issuer,
      audience: AUDIENCE,
      requiredClaims: ['exp', 'iat'],
      currentDate: new Date(0), // the caller checks the time
    })
    return payload
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed) return null
    throw error
  }
}

function keyOf(service: string, secret: string): KeyObject {
  if (secret.length < SECRET_CHARACTERS)
    throw new Error(`the service secret of ${service} has fewer than ${SECRET_CHARACTERS} characters`)
  return createSecretKey(Buffer.from(secret))
}
