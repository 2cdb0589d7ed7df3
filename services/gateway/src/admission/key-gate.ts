import { refuse } from '@gateway/api/refusal'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import { type IdentifiedKey, MAX_IDENTIFIED_KEYS } from '@gateway/ledger-protocol/ledger-reads'
import { type Refused, refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import { openBatcher } from '@gateway/service-kit/async/batcher'
import { withTimeout } from '@gateway/service-kit/async/waiting'
import { LRUCache } from 'lru-cache'
import type { Metrics } from '../metrics.ts'

// A key must exist before the gateway reads or parses the caller's body or grants a permit (rules §2.3).
//   K1  A found key is cached with its project, which never changes, and its rate limits. From REFRESH_MS on they are
//       looked up again in the background; from MAX_AGE_MS on the request waits for that, at most PATIENCE_MS. If it fails
//       or takes longer, older ones apply, and no request waits for WITHOUT_WAIT_MS. The cache authorizes nothing: the
//       ledger checks the key again at every admission.
//   K2  Other keys are looked up in batches; a key used by several requests is looked up once.
//   K3  A refusal is cached briefly. Forged keys evict only other refusals, never found keys.
//   K4  Requests waiting for a lookup are bounded, and one address gets at most half of the free places.

export interface KeyGate {
  /**
   * Returns the key's project and rate limits.
   * @param address of the caller, as `countedAddress` returns it
   * @throws Refusal `key_invalid`, `key_revoked`, `key_expired`, `key_unbound`; `overloaded` (K4)
   * @throws LedgerUnavailable
   */
  identify(keyHash: string, address: string): Promise<IdentifiedKey> | IdentifiedKey
  /**
   * Returns how the project of an identified key captures content; null: it does not. The ledger stores nothing
   * captured by old rules.
   */
  captureOf(keyHash: string): IdentifiedKey['capture']
}

interface Options {
  ledger: Pick<LedgerClient, 'identifyKeys'>
  metrics: Pick<Metrics, 'keysLookedUp'>
  maxWaiting?: number
  /** Maximum wait for the rate limits of a known key. */
  patienceMs?: number
  /** Monotonic milliseconds. */
  now?: () => number
}

interface LookUp {
  keyHash: string
  found: PromiseWithResolvers<IdentifiedKey | Refused>
}

const MAX_KNOWN = 50_000
const MAX_REFUSED = 10_000
const REFUSED_FOR_MS = 2_000
const MAX_WAITING = 16_384
const LOOK_UP_MS = 5_000
const REFRESH_MS = 5_000
const MAX_AGE_MS = 10_000
const PATIENCE_MS = 500
const WITHOUT_WAIT_MS = 5_000

export function openKeyGate({
  ledger,
  metrics,
  maxWaiting = MAX_WAITING,
  patienceMs = PATIENCE_MS,
  now = () => performance.now(),
}: Options): KeyGate {
  const known = new LRUCache<string, { found: IdentifiedKey; readAtMs: number }>({ max: MAX_KNOWN }) // K1
  const refused = new LRUCache<string, Refused>({ max: MAX_REFUSED, ttl: REFUSED_FOR_MS }) // K3
  const lookUps = new Map<string, LookUp>() // by key, including lookups in progress
  const queue: LookUp[] = []
  const waitingOf = new Map<string, number>() // by address
  let waiting = 0
  let withoutWaitUntilMs = 0
  const batcher = openBatcher<LookUp[]>({
    take: () => (queue.length === 0 ? null : queue.splice(0, MAX_IDENTIFIED_KEYS)),
    run: lookUp,
    concurrency: 2,
    defer: setImmediate,
  })

  async function lookUp(batch: LookUp[]): Promise<void> {
    try {
      const keyHashes = batch.map(({ keyHash }) => keyHash)
      const { keys } = await ledger.identifyKeys({ keyHashes }, { budgetMs: LOOK_UP_MS })
      for (const [at, { keyHash, found }] of batch.entries()) {
        const answer = keys[at]!
        if ('project' in answer) known.set(keyHash, { found: answer, readAtMs: now() })
        else {
          known.delete(keyHash)
          refused.set(keyHash, answer)
        }
        metrics.keysLookedUp('project' in answer ? 'found' : 'refused')
        found.resolve(answer)
      }
    } catch (error) {
      metrics.keysLookedUp('failed', batch.length)
      for (const { found } of batch) found.reject(error)
    } finally {
      for (const { keyHash } of batch) lookUps.delete(keyHash)
    }
  }

  /** K2 */
  function lookUpOf(keyHash: string): LookUp {
    let lookUp = lookUps.get(keyHash)
    if (!lookUp) {
      lookUp = { keyHash, found: Promise.withResolvers() }
      lookUps.set(keyHash, lookUp)
      queue.push(lookUp)
      batcher.wake()
    }
    return lookUp
  }

  async function identifyUnknown(keyHash: string, address: string): Promise<IdentifiedKey> {
    const ofAddress = waitingOf.get(address) ?? 0
    if (ofAddress >= (maxWaiting - waiting) / 2) throw refuse('overloaded', {}) // K4
    waiting++
    waitingOf.set(address, ofAddress + 1)
    try {
      return identified(await lookUpOf(keyHash).found.promise)
    } finally {
      waiting--
      const left = waitingOf.get(address)! - 1
      if (left === 0) waitingOf.delete(address)
      else waitingOf.set(address, left)
    }
  }

  /** K1 */
  async function refreshed(old: IdentifiedKey, fresh: Promise<IdentifiedKey | Refused | null>): Promise<IdentifiedKey> {
    const answer = await withTimeout(patienceMs, () => fresh).catch(() => null)
    if (answer === null) withoutWaitUntilMs = now() + WITHOUT_WAIT_MS
    return identified(answer ?? old)
  }

  return {
    captureOf: (keyHash) => known.peek(keyHash)?.found.capture ?? null,
    identify(keyHash, address) {
      const key = known.get(keyHash)
      if (key !== undefined) {
        const ageMs = now() - key.readAtMs
        if (ageMs < REFRESH_MS) return key.found
        const fresh = lookUpOf(keyHash).found.promise.catch(() => null)
        return ageMs < MAX_AGE_MS || now() < withoutWaitUntilMs ? key.found : refreshed(key.found, fresh)
      }
      const refusal = refused.get(keyHash)
      return refusal ? identified(refusal) : identifyUnknown(keyHash, address)
    },
  }
}

function identified(answer: IdentifiedKey | Refused): IdentifiedKey {
  if ('refused' in answer) throw refusalFor(answer.refused, 'chat')
  return answer
}
