import { setTimeout as wait } from 'node:timers/promises'
import { openInstance, type Instance } from '@gateway/ledger-client/instance'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import { LedgerUnavailable } from '@gateway/ledger-client/ledger-failures'
import type { Logger } from '@gateway/process/logger'

interface Deps {
  ledger: Pick<LedgerClient, 'heartbeat' | 'endInstance'>
  mintId: () => string
  stopping: AbortSignal
  log: Pick<Logger, 'warn'>
}

const AGAIN_MS = 1_000

/** Puts this process on the ledger's books, as whom it will hold money. Waits for a ledger that is not there yet. */
export async function registerInstance({ ledger, mintId, stopping, log }: Deps): Promise<Instance> {
  for (;;) {
    try {
      return await openInstance({ client: ledger, service: 'gateway', mintId })
    } catch (error) {
      if (!(error instanceof LedgerUnavailable)) throw error
      log.warn('the ledger can not be reached yet')
      await wait(AGAIN_MS, undefined, { signal: stopping })
    }
  }
}
