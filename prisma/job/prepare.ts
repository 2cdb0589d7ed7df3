import { migrate } from '@gateway/database/migrate'
import { ensureRoles } from '@gateway/database/roles'
import { addFirstOperator } from './add-first-operator.ts'
import type { JobConfig } from './config.ts'

/**
 * Makes a database ready for the services of this version: migrations and functions, then their logins, then someone who may begin.
 * Safe to repeat, and at the same moment elsewhere. The services of the version before continue meanwhile: migrations
 * only expand and contract.
 */
export async function prepare(config: JobConfig, log: (line: string) => void): Promise<void> {
  const { DATABASE_URL: url, LEDGER_DATABASE_PASSWORD: ledger, CONSOLE_DATABASE_PASSWORD: console } = config
  const applied = await migrate({ url, log, ...(config.MIGRATE_AGAIN && { again: config.MIGRATE_AGAIN }) })
  log(applied.length > 0 ? `Applied ${applied.length} migrations and functions.` : 'Nothing to migrate.')
  if (ledger !== undefined && console !== undefined) {
    await ensureRoles(url, { ledger, console })
    log('Set the passwords of the logins of ledger and console.')
  }
  if (config.OPERATOR_EMAIL !== undefined) {
    const added = await addFirstOperator({ url, email: config.OPERATOR_EMAIL, token: config.OPERATOR_TOKEN ?? null })
    log(added ? `Added ${config.OPERATOR_EMAIL} as platform operator.` : 'A platform operator already exists.')
  }
}
