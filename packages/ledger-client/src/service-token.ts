import { hash, type KeyObject, sign, verify } from 'node:crypto'
import { promisify } from 'node:util'
import { z } from 'zod'
import type { ServiceName } from '@gateway/ledger-protocol/ledger-reads'
import type { Logger } from '@gateway/service-kit/process/logger'
import { readPrivateKey, readPublicKeys } from '@gateway/service-kit/process/service-keys'

// How a service proves its identity to the ledger: a JWT for each request, signed with the service's private Ed25519 key.
//   T1  A token is for one request: it names the operation and the SHA-256 of the body. Who captures it can only repeat
//       that request, and every operation is safe to repeat.
//   T2  The clocks of two machines may differ by TOLERANCE_S, in either direction. The lifetime of a token is set by
//       its signer alone (`exp - iat`), independent of any clock. Differences are logged, whether they matter yet or
//       not.
//   T3  A service may have two valid keys: while one is replaced, the old one and the new one.
//   T4  The header is a constant, compared byte by byte: a token chooses neither its algorithm nor its key.
// Without a library: jose signs and verifies in a thread, at four times the cost for each request.

export interface RequestSigner {
  /** The token of one request. @param path of the operation, without the prefix of the ledger's address */
  sign(path: string, body: string): string
}

export interface SignedRequest {
  service: ServiceName
  /** SHA-256 of the body that was signed, as base64url; the caller compares it (T1). */
  bodyDigest: string
}

/**
 * Returns who signed a request to this path, and for which body; null if the signer is unknown, or the token is forged,
 * expired, or for another request.
 */
export type RequestVerifier = (token: string, path: string) => Promise<SignedRequest | null>

const AUDIENCE = 'ledger'
const LIFETIME_S = 60
/** T2 */
const TOLERANCE_S = 60
/** Larger clock differences are logged, from time to time for each service. */
const NOTABLE_S = 30
const REPORT_EVERY_MS = 60_000
/** T4 */
const HEADER = encode({ alg: 'EdDSA', typ: 'JWT' })

const claims = z.strictObject({
  iss: z.string(),
  aud: z.literal(AUDIENCE),
  iat: z.int(),
  exp: z.int(),
  /** The request that it is for: `POST /fundings`. */
  request: z.string(),
  /** SHA-256 of the body, as base64url. */
  body: z.string(),
})
type Claims = z.output<typeof claims>

/**
 * Signs the requests of one service.
 * @param privateKey PEM
 * @param now Unix milliseconds
 * @throws Error unless it is an Ed25519 key
 */
export function openRequestSigner({
  service,
  privateKey,
  now,
}: {
  service: ServiceName
  privateKey: string
  now: () => number
}): RequestSigner {
  const key = readPrivateKey(privateKey)
  return {
    sign(path, body) {
      const issuedAtS = Math.floor(now() / 1000)
      const signed = `${HEADER}.${encode({
        iss: service,
        aud: AUDIENCE,
        iat: issuedAtS,
        exp: issuedAtS + LIFETIME_S,
        request: requestTo(path),
        body: digestOf(body),
      } satisfies Claims)}`
      return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`
    },
  }
}

interface VerifierOptions {
  /** Public keys of each service, as PEM: one, or two while it is replaced (T3). */
  publicKeys: Partial<Record<ServiceName, string>>
  /** Unix milliseconds. */
  now: () => number
  log: Pick<Logger, 'warn' | 'error'>
}

/**
 * Verifies the tokens of the services whose keys it is given.
 * @throws Error for a text that holds no public Ed25519 keys
 */
export function openRequestVerifier({ publicKeys, now, log }: VerifierOptions): RequestVerifier {
  const keys = new Map(Object.entries(publicKeys).map(([service, pem]) => [service, readPublicKeys(pem)]))
  const reportedMs = new Map<string, number>()

  return async (token, path) => {
    const signed = await readSigned(token, keys)
    if (signed === null) return null
    const { iat: issuedAtS, exp: expiresAtS, request, body } = signed
    const service = signed.iss as ServiceName
    const nowS = now() / 1000
    const lifetimeS = expiresAtS - issuedAtS
    const refused = issuedAtS - TOLERANCE_S > nowS || nowS >= expiresAtS + TOLERANCE_S
    reportClocks(service, Math.trunc(issuedAtS - nowS), refused)
    if (refused || lifetimeS <= 0 || lifetimeS > LIFETIME_S || request !== requestTo(path)) return null
    return { service, bodyDigest: body }
  }

  /** T2 */
  function reportClocks(caller: ServiceName, apartS: number, refused: boolean): void {
    if (Math.abs(apartS) <= NOTABLE_S || now() < (reportedMs.get(caller) ?? -Infinity) + REPORT_EVERY_MS) return
    reportedMs.set(caller, now())
    const message = `clocks of ${caller} and ledger differ`
    if (refused) log.error({ caller, apartS, toleratedS: TOLERANCE_S }, `${message}, its requests are refused`)
    else log.warn({ caller, apartS, toleratedS: TOLERANCE_S }, message)
  }
}

/** The digest of a body, as a token has it. */
export function digestOf(body: string | Buffer): string {
  return hash('sha256', body, 'base64url')
}

/** What a token names: the path of an operation, or of the channel that it opens. */
function requestTo(path: string): string {
  return `POST ${path}`
}

const verifyInThread = promisify<null, Buffer, KeyObject, Buffer, boolean>(verify)

/** Returns the claims of a token, whose times are not checked; null if none of our services signed it. */
async function readSigned(token: string, keys: Map<string, KeyObject[]>): Promise<Claims | null> {
  const [header, payload = '', signature = '', ...more] = token.split('.')
  if (header !== HEADER || more.length > 0) return null // T4
  const bytes = Buffer.from(signature, 'base64url')
  if (bytes.toString('base64url') !== signature) return null // one way to write each token
  const read = claims.safeParse(decode(payload))
  if (!read.success) return null
  const signed = Buffer.from(`${header}.${payload}`)
  for (const key of keys.get(read.data.iss) ?? []) if (await verifyInThread(null, signed, key, bytes)) return read.data
  return null
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function decode(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    return null
  }
}
