import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import type { HealthCheck } from '@gateway/process/health'

/** The hash of no key of ours. */
const NOBODY = '0'.repeat(64)
const LIMIT_MS = 900

/** Ready is who can ask the ledger, and whose ledger can ask the books: nothing can be admitted otherwise. */
export function ledgerAnswers(ledger: Pick<LedgerClient, 'models'>): HealthCheck {
  return async () => {
    try {
      await ledger.models({ keyHash: NOBODY, selector: null }, { budgetMs: LIMIT_MS })
      return null
    } catch {
      return 'the ledger does not answer'
    }
  }
}
