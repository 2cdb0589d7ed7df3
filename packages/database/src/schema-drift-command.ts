// Prints the SQL that prisma/migrations lacks for prisma/schema, as the start of the next migration. DATABASE_URL: the
// owner's login to a server on which a temporary database may be created.
import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { withDatabase } from './client.ts'
import { migrate } from './migrate.ts'
import { schemaDrift } from './schema-drift.ts'

const url = process.env.DATABASE_URL
if (!url) throw new Error('DATABASE_URL is not set. Set it to a Postgres server where the migrations can be tried.')
const name = `svc_drift_${randomBytes(4).toString('hex')}`

try {
  await migrate({ url: withDatabase(url, name), log: () => {} })
  const steps = await schemaDrift(withDatabase(url, name))
  console.log(steps.length > 0 ? steps.join('\n\n') : '-- The migrations agree with the schema.')
} finally {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  await client.end()
}
