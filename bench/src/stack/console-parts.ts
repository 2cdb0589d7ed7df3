// What the console asks the database, without its HTTP server. It exports nothing, because no service may import it;
// measuring is the exception.
/* oxlint-disable local/import-direction */
export { usageRows } from '../../../services/console/src/money/usage-rows.ts'
