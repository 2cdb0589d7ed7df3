import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { withLogin } from './database-url.ts'
import { scramVerifier } from './scram-verifier.ts'

/** The services that reach the database, each with the permissions of its own group role `svc_<service>`. */
export type DatabaseService = 'ledger' | 'console'

export interface RoleOptions {
  /** How long a statement of these logins may wait for a lock, in milliseconds. Default 5000. */
  lockTimeoutMs?: number
  /** After how long an idle open transaction of these logins is ended, in milliseconds. Default 10000. */
  idleInTransactionMs?: number
}

/**
 * Makes the login `svc_<service>_login` of each service a member of its group role, with this password, and answers
 * the URL that each service connects with. Safe to repeat, also at the same moment. The group roles and their
 * permissions come from the migrations, so the database has to be migrated first.
 *
 * The settings hang on the login role because a transaction pooler lets no session setting through.
 */
export async function ensureRoles(
  adminUrl: string,
  passwords: Record<DatabaseService, string>,
  { lockTimeoutMs = 5_000, idleInTransactionMs = 10_000 }: RoleOptions = {},
): Promise<Record<DatabaseService, string>> {
  const client = new Client({ connectionString: adminUrl, application_name: 'svc-roles' })
  client.on('error', () => {}) // a lost connection also fails the query that is under way
  await client.connect()

  const ensureRole = async (service: DatabaseService): Promise<string> => {
    const login = loginOf(service)
    await ensureLogin(client, login, passwords[service])
    await client.query(`GRANT svc_${service} TO ${login}`)
    await client.query(`ALTER ROLE ${login} SET lock_timeout = ${lockTimeoutMs}`)
    await client.query(`ALTER ROLE ${login} SET idle_in_transaction_session_timeout = ${idleInTransactionMs}`)
    await client.query(`ALTER ROLE ${login} SET timezone = 'UTC'`)
    return withLogin(adminUrl, login, passwords[service])
  }
  try {
    await client.query('BEGIN')
    // One at a time: Postgres refuses two changes of one role at the same moment.
    await client.query("SELECT pg_advisory_xact_lock(hashtext('svc roles'))")
    const urls = { ledger: await ensureRole('ledger'), console: await ensureRole('console') }
    await client.query('COMMIT')
    return urls
  } finally {
    await client.end()
  }
}

/** The login role of a service. */
export function loginOf(service: DatabaseService): string {
  return `svc_${service}_login`
}

async function ensureLogin(client: Client, login: string, password: string): Promise<void> {
  const verifier = client.escapeLiteral(scramVerifier(password, randomBytes(16)))
  const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [login])
  await client.query(`${rowCount === 0 ? 'CREATE' : 'ALTER'} ROLE ${login} LOGIN PASSWORD ${verifier}`)
}
