import { setTimeout as delay } from 'node:timers/promises'
import { aliveTopic, type ServiceName } from '@gateway/ledger-protocol/ledger-reads'
import type { LedgerClient } from './ledger-client.ts'
import { LedgerUnavailable } from './call-operation.ts'
import type { RefusedItem } from '@gateway/ledger-protocol/ledger-outcomes'

// One incarnation of a process, which holds its reservations and leases (architecture §M7).
//   H1  The ledger knows an instance before anything is reserved for it.
//   H2  Once the ledger has declared it dead it stays dead; the process continues under a fresh id.
//   H3  An id that is alive is never given up: the calls under it would lose their reservations.
//   H4  While its heartbeats reach no ledger it sends signs of life through the notifier: the connection may be silent,
//       or the replica that it knew is gone (services/ledger/src/instances/signs-of-life.ts).

export interface Instance {
  /** Instance for an admission or a claim; read it for each, because it may change. */
  id(): string
  /** Call it after `instance-unknown`, before the item is repeated. Concurrent callers share one heartbeat. */
  renew(): Promise<void>
  /** Whether no heartbeat was answered for so long that the ledger has declared this process dead, or soon will. */
  silent(): boolean
  /** Calls back when `silent` changes, as observed by the heartbeats. */
  onSilence(listener: (silent: boolean) => void): void
  /** Ends the heartbeats and tells the ledger, which then releases what is still reserved. */
  stop(): Promise<void>
}

export interface InstanceOptions {
  ledger: Pick<LedgerClient, 'heartbeat' | 'endInstance'>
  service: ServiceName
  heartbeatMs: number
  /** Time without a heartbeat after which the ledger declares it dead. Default: three heartbeats. */
  deadAfterMs?: number
  newId: () => string
  /** Carries the sign of life that replaces a heartbeat which reaches no ledger. */
  notifier: { notify(topic: string): void }
  /** Ends the wait for a ledger that cannot be reached. */
  stopping: AbortSignal
  log: { warn(message: string): void }
  /** Monotonic milliseconds. */
  now?: () => number
}

/** Unanswered heartbeats after which the ledger declares the process dead. */
export const MISSED_HEARTBEATS = 3

/** Configurable interval between heartbeats: the ledger declares a process dead after 1 to 60 s. */
export const HEARTBEAT_LIMITS = { min: 500, max: 20_000 }

/** A heartbeat that stalls for this long is given up, and the next one takes another connection. */
const MIN_BUDGET_MS = 1_000
const AGAIN_MS = 1_000
/** More than one interval, because a heartbeat under way is not unheard. */
const UNHEARD_HEARTBEATS = 1.5

/**
 * Registers this process with the ledger and keeps it alive there. Waits for a ledger that cannot be reached yet;
 * rejects with the reason of `stopping` if that comes first.
 */
export async function registerInstance({
  ledger,
  service,
  heartbeatMs,
  deadAfterMs = MISSED_HEARTBEATS * heartbeatMs,
  newId,
  notifier,
  stopping,
  log,
  now = () => performance.now(),
}: InstanceOptions): Promise<Instance> {
  const budget = { budgetMs: Math.max(heartbeatMs, MIN_BUDGET_MS) }
  let id = newId()
  let stopped = false
  let heartbeat: Promise<void> | null = null
  let heardMs = -Infinity
  let wasSilent = false
  let notifySilence = (_: boolean) => {}

  async function heartbeatOrReplace(): Promise<void> {
    if (await lives(id)) return // H3
    while (!stopped) {
      const fresh = newId()
      if (!(await lives(fresh))) continue
      id = fresh // H1, H2
      return
    }
  }

  async function lives(instance: string): Promise<boolean> {
    const { alive } = await ledger.heartbeat({ instance, service, deadAfterMs }, budget)
    heardMs = now()
    return alive
  }

  /** One at a time: concurrent callers share it. */
  function sendHeartbeat(): Promise<void> {
    heartbeat ??= heartbeatOrReplace().finally(() => {
      heartbeat = null
      lookForSilence()
    })
    return heartbeat
  }

  const silent = () => now() - heardMs > deadAfterMs

  function lookForSilence(): void {
    if (heardMs === -Infinity || silent() === wasSilent) return
    wasSilent = !wasSilent
    notifySilence(wasSilent)
  }

  for (;;) {
    try {
      await sendHeartbeat()
      break
    } catch (error) {
      if (!(error instanceof LedgerUnavailable)) throw error
      log.warn('ledger unreachable, registration retries')
      await delay(AGAIN_MS, undefined, { signal: stopping })
    }
  }
  // The next heartbeat follows a failed one in time; only the ledger decides which instance is dead.
  const timer = setInterval(() => {
    if (now() - heardMs > UNHEARD_HEARTBEATS * heartbeatMs) notifier.notify(aliveTopic(id)) // H4
    void sendHeartbeat().catch(() => {})
  }, heartbeatMs).unref()

  return {
    id: () => id,
    renew: () => (stopped ? Promise.resolve() : sendHeartbeat()),
    silent,
    onSilence: (listener) => void (notifySilence = listener),
    async stop() {
      if (stopped) return
      stopped = true
      clearInterval(timer)
      await heartbeat?.catch(() => {})
      await ledger.endInstance({ instance: id }, budget).catch(() => {}) // else the heartbeats go missing
    },
  }
}

/** How long the ledger may take to decide an admission. After that nothing stays reserved, and nothing was called. */
export const ADMISSION_MS = 5_000

interface Asking<Outcome> {
  /** Asks the ledger. `counted`: exact tokens of the prompt's text; null if they were not counted. */
  ask: (counted: number | null) => Promise<Outcome>
  /** Counts, if a count could change this refusal. */
  count: (refused: RefusedItem) => Promise<{ kind: 'counted'; tokens: number } | { kind: 'stands' } | { kind: 'busy' }>
}

/**
 * Asks for an admission. If the prompt is refused for its size in bytes alone, its tokens are counted once, and the
 * ledger is asked again (money §2.4). The count is kept for later calls of the returned function. `uncounted`: time ran
 * out before the count, so it is not known whether the prompt fits.
 */
export function openAdmission<Outcome extends { kind: string } | null>({
  ask,
  count,
}: Asking<Outcome>): () => Promise<Outcome | { kind: 'uncounted' }> {
  let counted: number | null = null
  let mayCount = true
  return async () => {
    const outcome = await ask(counted)
    if (!mayCount || !isRefused(outcome)) return outcome
    const result = await count(outcome)
    if (result.kind === 'busy') return { kind: 'uncounted' }
    mayCount = false
    if (result.kind === 'stands') return outcome
    counted = result.tokens
    return ask(counted)
  }
}

function isRefused(outcome: { kind: string } | null): outcome is RefusedItem {
  return outcome?.kind === 'refused'
}
