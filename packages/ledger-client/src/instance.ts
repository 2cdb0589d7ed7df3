import { setTimeout as delay } from 'node:timers/promises'
import { aliveTopic, type ServiceName } from '@gateway/ledger-protocol/ledger-reads'
import type { LedgerClient } from './ledger-client.ts'
import { LedgerUnavailable } from './call-operation.ts'

// One incarnation of a process, in whose name it has reservations and leases (architecture §M7).
//   H1  The ledger knows it before anything is reserved in its name.
//   H2  Once the ledger has declared it dead it stays dead; the process continues under a fresh id.
//   H3  A living id is never given up: the calls under it would lose their reservations.
//   H4  While its heartbeats find no ledger it gives a sign of life by the notifier: the way to the ledger may be silent, or the
//       replica that it knew is gone (services/ledger/src/instances/signs-of-life.ts).

export interface Instance {
  /** In whose name an admission or a claim is asked for; read again for each, because it may change. */
  id(): string
  /** To be called when the ledger answered `instance-unknown`, before the question is repeated. Any number of callers share one heartbeat. */
  renew(): Promise<void>
  /** Whether no heartbeat was answered for so long that the ledger takes this process for dead, or soon will. */
  silent(): boolean
  /** Calls back whenever `silent` has changed, as the heartbeats find it. */
  onSilence(listener: (silent: boolean) => void): void
  /** Ends the heartbeats and tells the ledger, which then releases what is still reserved. */
  stop(): Promise<void>
}

export interface InstanceOptions {
  ledger: Pick<LedgerClient, 'heartbeat' | 'endInstance'>
  service: ServiceName
  heartbeatMs: number
  /** After so long without a heartbeat the ledger declares it dead. Default: three heartbeats. */
  deadAfterMs?: number
  newId: () => string
  /** Takes the sign of life that replaces a heartbeat which finds no ledger. */
  notifier: { notify(topic: string): void }
  /** Ends the wait for a ledger that is not there. */
  stopping: AbortSignal
  log: { warn(message: string): void }
  /** Monotonic milliseconds. */
  now?: () => number
}

/** After as many without an answer the ledger takes the process for dead. */
export const MISSED_HEARTBEATS = 3

/** What may be configured between two heartbeats: the ledger takes a process for dead after 1 to 60 s. */
export const HEARTBEAT_LIMITS = { min: 500, max: 20_000 }

/** A heartbeat that stalls for as long is given up, and the next one takes another connection. */
const MIN_BUDGET_MS = 1_000
const AGAIN_MS = 1_000
/** One that is on its way is not unheard. */
const UNHEARD_HEARTBEATS = 1.5

/**
 * Registers this process with the ledger and keeps it alive there. Waits for a ledger that cannot be reached yet; rejects with the
 * reason of `stopping` where that comes first.
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

  /** One at a time: who comes while one is under way shares it. */
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
      log.warn('the ledger cannot be reached yet')
      await delay(AGAIN_MS, undefined, { signal: stopping })
    }
  }
  // A heartbeat that failed is followed by the next one in time; only the ledger decides who is dead.
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
      await ledger.endInstance({ instance: id }, budget).catch(() => {}) // without it the ledger finds out by the missing heartbeats
    },
  }
}
