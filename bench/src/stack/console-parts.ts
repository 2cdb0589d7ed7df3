// The console's database queries, without its HTTP server. The console exports nothing, because no service may import
// it; benches are the exception.
/* oxlint-disable local/import-direction */
export { composeLatency } from '../../../services/console/src/money/compose-latency.ts'
export { latencyCells } from '../../../services/console/src/money/latency-cells.ts'
export { usageSteps } from '../../../services/console/src/money/usage-steps.ts'
export { usageRows } from '../../../services/console/src/money/usage-rows.ts'
