import { registerInstance as registerWithLedger, type Instance } from '@gateway/ledger-client/instance'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import type { HealthCheck } from '@gateway/process/health'
import type { Logger } from '@gateway/process/logger'

// A worker heartbeats often and is dead soon: what it left is taken back within seconds (architecture.md, money core 7).
const HEARTBEAT_MS = 1_000
const DEAD_AFTER_MS = 3_000

interface Deps {
  ledger: Pick<LedgerClient, 'heartbeat' | 'endInstance'>
  mintId: () => string
  stopping: AbortSignal
  log: Pick<Logger, 'warn'>
  /** Told when the ledger falls silent for so long that it takes this process for dead, and when it is heard again. */
  onSilence: (silent: boolean) => void
  /** Monotonic milliseconds. */
  now: () => number
}

/** Puts this process on the ledger's books, as whom it will hold money. Waits for a ledger that is not there yet. */
export async function registerInstance({ ledger, mintId, stopping, log, onSilence, now }: Deps): Promise<{
  instance: Instance
  /** Whether the last heartbeats were answered. */
  heard: HealthCheck
  /** Whether the ledger takes this process for dead by now, or soon will. */
  silent: () => boolean
}> {
  const instance = await registerWithLedger({
    ledger,
    service: 'worker',
    heartbeatMs: HEARTBEAT_MS,
    deadAfterMs: DEAD_AFTER_MS,
    newId: mintId,
    stopping,
    log,
    now,
  })
  instance.onSilence(onSilence)
  const { silent } = instance
  const heard = () => (silent() ? `has answered no heartbeat for ${DEAD_AFTER_MS / 1_000} seconds` : null)
  return { instance, heard, silent }
}
