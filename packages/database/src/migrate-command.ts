// Applies the migrations to DATABASE_URL. `--again <name>` retries one that was left unfinished.
import { parseArgs } from 'node:util'
import { migrate } from './migrate.ts'

const { values } = parseArgs({ options: { again: { type: 'string' } } })
const url = process.env.DATABASE_URL

try {
  if (!url) throw new Error('DATABASE_URL is not set. Set it to the database to migrate, with the login of its owner.')
  const applied = await migrate({ url, log: console.log, ...(values.again ? { again: values.again } : {}) })
  console.log(applied.length > 0 ? `Applied ${applied.length} migrations and functions.` : 'Nothing to migrate.')
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
