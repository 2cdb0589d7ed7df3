import type { ServiceName } from '@gateway/contracts/ledger-reads'
import type { LedgerClient } from './ledger-client.ts'

// One incarnation of a process, in whose name it holds reservations (architecture.md, money core 7).
//   H1  It is on the books before anything is held in its name.
//   H2  Once the ledger has declared it dead it stays dead; the process goes on under a fresh id.
//   H3  A living id is never given up: the calls that run under it would lose their reservations.

export interface Instance {
  /** Whose name an admission is asked for in; asked anew for each, because it may change. */
  id(): string
  /** To be called when an admission answered `instance-unknown`, before it is repeated. Any number of callers share one look. */
  renew(): Promise<void>
  /** Stops beating and tells the ledger, which then releases what is still held. */
  stop(): Promise<void>
}

interface Deps {
  client: Pick<LedgerClient, 'heartbeat' | 'endInstance'>
  service: ServiceName
  heartbeatMs?: number
  /** After so long without a heartbeat the ledger declares it dead. */
  deadAfterMs?: number
  mintId: () => string
}

/** A heartbeat that stalls for as long is given up, and the next one takes another connection. */
const LEAST_BUDGET_MS = 1_000

/**
 * Registers this incarnation and keeps it alive.
 * @throws LedgerUnavailable when the ledger can't be reached
 */
export async function openInstance({
  client,
  service,
  heartbeatMs = 5_000,
  deadAfterMs = 15_000,
  mintId,
}: Deps): Promise<Instance> {
  let id = mintId()
  let stopped = false
  let looking: Promise<void> | null = null

  async function heartbeatOrReplace(): Promise<void> {
    if (await lives(id)) return // H3
    while (!stopped) {
      const fresh = mintId()
      if (!(await lives(fresh))) continue
      id = fresh // H1, H2
      return
    }
  }

  async function lives(instance: string): Promise<boolean> {
    const { alive } = await client.heartbeat(
      { instance, service, deadAfterMs },
      { budgetMs: Math.max(heartbeatMs, LEAST_BUDGET_MS) },
    )
    return alive
  }

  /** One look at a time: who comes while one is under way shares it. */
  function look(): Promise<void> {
    looking ??= heartbeatOrReplace().finally(() => (looking = null))
    return looking
  }

  await look()
  // A heartbeat that failed is followed by the next one in time; only the ledger decides who is dead.
  const timer = setInterval(() => void look().catch(() => {}), heartbeatMs).unref()

  return {
    id: () => id,
    renew: () => (stopped ? Promise.resolve() : look()),
    async stop() {
      if (stopped) return
      stopped = true
      clearInterval(timer)
      await looking?.catch(() => {})
      await client.endInstance({ instance: id }).catch(() => {}) // silence will tell it, later
    },
  }
}
