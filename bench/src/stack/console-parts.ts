// The console's database queries, without its HTTP server. The console exports nothing, because no service may import
// it; benches are the exception.
/* oxlint-disable local/import-direction */
export { composeUsage, partsOfCells } from '../../../services/console/src/money/usage.ts'
export { usageCells } from '../../../services/console/src/money/usage-cells.ts'
export { usageSteps } from '../../../services/console/src/money/usage-figures.ts'
