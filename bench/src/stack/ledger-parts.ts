// The ledger's own parts, without its door: what is between a batch that gathers and Postgres, and the check of the books.
// The ledger exports nothing, because no service may import it; measuring is the exception.
/* oxlint-disable local/import-direction */
export { openAdmissionBatcher, type AdmissionBatcher } from '../../../services/ledger/src/batch/admission-batcher.ts'
export { batchRunner } from '../../../services/ledger/src/batch/run-batch.ts'
export type { Outcome } from '../../../services/ledger/src/batch/waiting-items.ts'
export { checkBooks, sayFinding } from '../../../services/ledger/src/check/check-books.ts'
