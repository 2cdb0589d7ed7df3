// The console's database queries, without its HTTP server. The console exports nothing, because no service may import
// it; benches are the exception.
/* oxlint-disable local/import-direction */
export { usageRows } from '../../../services/console/src/money/usage-rows.ts'
