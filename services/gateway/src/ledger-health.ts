import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import type { HealthCheck } from '@gateway/service-kit/process/health'

/** The hash of no key. */
const NO_KEY = '0'.repeat(64)
const LIMIT_MS = 900

/**
 * The gateway is ready while the ledger answers a question that it has to ask its database: otherwise nothing can be
 * admitted.
 */
export function ledgerHealth({ ledger }: { ledger: Pick<LedgerClient, 'models'> }): HealthCheck {
  return async () => {
    try {
      await ledger.models({ keyHash: NO_KEY, selector: null }, { budgetMs: LIMIT_MS })
      return null
    } catch {
      return 'the ledger does not answer'
    }
  }
}
