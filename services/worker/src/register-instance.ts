import { setTimeout as wait } from 'node:timers/promises'
import { openInstance, type Instance } from '@gateway/ledger-client/instance'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import { LedgerUnavailable } from '@gateway/ledger-client/ledger-failures'
import type { HealthCheck } from '@gateway/process/health'
import type { Logger } from '@gateway/process/logger'

// A worker heartbeats often and is dead soon: what it left is taken back within seconds (architecture.md, money core 7).
const HEARTBEAT_MS = 1_000
const DEAD_AFTER_MS = 3_000
const AGAIN_MS = 1_000

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
  let heardMs = -Infinity
  let wasSilent = false
  const silent = () => now() - heardMs > DEAD_AFTER_MS
  function look(): void {
    if (heardMs === -Infinity || silent() === wasSilent) return
    wasSilent = !wasSilent
    onSilence(wasSilent)
  }
  const client: Deps['ledger'] = {
    async heartbeat(heartbeat, budget) {
      try {
        const answer = await ledger.heartbeat(heartbeat, budget)
        heardMs = now()
        return answer
      } finally {
        look()
      }
    },
    // A stop does not wait long for it: without a word the instance is dead soon all the same.
    endInstance: (request) => ledger.endInstance(request, { budgetMs: HEARTBEAT_MS }),
  }
  const heard = () => (silent() ? `has answered no heartbeat for ${DEAD_AFTER_MS / 1_000} seconds` : null)

  for (;;) {
    try {
      const instance = await openInstance({
        client,
        service: 'worker',
        heartbeatMs: HEARTBEAT_MS,
        deadAfterMs: DEAD_AFTER_MS,
        mintId,
      })
      return { instance, heard, silent }
    } catch (error) {
      if (!(error instanceof LedgerUnavailable)) throw error
      log.warn('the ledger can not be reached yet')
      await wait(AGAIN_MS, undefined, { signal: stopping })
    }
  }
}
