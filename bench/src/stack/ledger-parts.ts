// The ledger's parts between a gathering batch and Postgres, and its verification, without its HTTP server. The ledger
// exports nothing, because no service may import it; benches are the exception.
/* oxlint-disable local/import-direction */
export { openAdmissionBatcher } from '../../../services/ledger/src/admissions/admission-batcher.ts'
export { openReceipts } from '../../../services/ledger/src/admissions/receipts.ts'
export type { Outcome } from '../../../services/ledger/src/admissions/waiting-items.ts'
export { archiveBooks } from '../../../services/ledger/src/archive/archive-books.ts'
export { checkArchive } from '../../../services/ledger/src/archive/check-archive.ts'
export { checkBooks, formatFinding } from '../../../services/ledger/src/check/check-books.ts'

export { openQuarantine, type Quarantine } from '../../../services/ledger/src/quarantine/quarantine.ts'
export { checkUsage } from '../../../services/ledger/src/check/check-usage.ts'
export { rollUpUsage } from '../../../services/ledger/src/maintenance/usage-roll-up.ts'
export { outputCap, promptTokensBound, reservedPromptTokens, upperBoundMicro } from '@gateway/pricing/upper-bound'
export type { AdmissionBatcher } from '../../../services/ledger/src/deps.ts'
export { playHistories } from '../../../services/ledger/oracle/play-histories.fixture.ts'
