import { createSecretKey, type KeyObject } from 'node:crypto'
import { decodeJwt, jwtVerify, SignJWT } from 'jose'
import { LRUCache } from 'lru-cache'
import type { ServiceName } from '@gateway/contracts/ledger-reads'

// How a service proves to the ledger who it is: a JWT of five minutes, signed with a secret that only the two know.
// A leaked token is worth five minutes, and the permissions of one service.

export interface TokenSource {
  /** A token that is valid for another minute at least. */
  current(): Promise<string>
  /** Forgets the token at hand, so that the next one is signed anew. */
  renew(): void
}

/** Answers who signed a token, or null for one that is unknown, forged, expired or not for the ledger. */
export type TokenVerifier = (token: string) => Promise<ServiceName | null>

const AUDIENCE = 'ledger'
const LIFETIME_S = 300
const RENEW_BEFORE_MS = 60_000
/** How far the clocks of two machines may be apart. */
const SKEW_S = 30
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

/**
 * Verifies the tokens of the services whose secrets it is given. A verified token is cached until it expires.
 * @param now Unix milliseconds
 * @throws Error when a secret has fewer than 32 characters
 */
export function openTokenVerifier({
  secrets,
  now,
}: {
  secrets: Partial<Record<ServiceName, string>>
  now: () => number
}): TokenVerifier {
  const keys = new Map(Object.entries(secrets).map(([service, secret]) => [service, keyOf(service, secret)]))
  const verifiedTokens = new LRUCache<string, { service: ServiceName; expiresAtMs: number }>({ max: CACHED_TOKENS })

  return async (token) => {
    const nowMs = now()
    const cached = verifiedTokens.get(token)
    if (cached && nowMs < cached.expiresAtMs) return cached.service
    const verified = await verify(token, keys, nowMs)
    if (verified === null) return null
    verifiedTokens.set(token, verified)
    return verified.service
  }
}

async function verify(token: string, keys: Map<string, KeyObject>, nowMs: number) {
  try {
    const service = decodeJwt(token).iss ?? '' // only says which key to try
    const key = keys.get(service)
    if (!key) return null
    const { payload } = await jwtVerify(token, key, {
      algorithms: ['HS256'],
      issuer: service,
      audience: AUDIENCE,
      requiredClaims: ['exp', 'iat'],
      currentDate: new Date(nowMs),
      clockTolerance: SKEW_S,
    })
    const expiresAtMs = (payload.exp! + SKEW_S) * 1000
    if (expiresAtMs - nowMs > (LIFETIME_S + 2 * SKEW_S) * 1000) return null // nobody of ours signs for so long
    return { service: service as ServiceName, expiresAtMs }
  } catch {
    return null
  }
}

function keyOf(service: string, secret: string): KeyObject {
  if (secret.length < SECRET_CHARACTERS)
    throw new Error(`the service secret of ${service} has fewer than ${SECRET_CHARACTERS} characters`)
  return createSecretKey(Buffer.from(secret))
}
