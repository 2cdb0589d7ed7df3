import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import type { Client } from 'pg'
import { withLogin } from './client.ts'
import { openJobClient } from './job-client.ts'

/** The services that reach the database, each with its permissions in the group role `svc_<service>`. */
export type DatabaseService = 'ledger' | 'console'

/**
 * Limits of a session of a service, in milliseconds. The ledger cancels a statement earlier by itself; its limit ends
 * statements that it no longer waits for. The console's limit bounds what its queries cost everyone else: while a
 * snapshot is open, no version of a hot wallet can be cleaned up. Maintenance that needs longer says so in its own
 * transaction.
 */
const LIMITS: Record<DatabaseService, { statementMs: number; transactionMs: number }> = {
  ledger: { statementMs: 15_000, transactionMs: 30_000 },
  console: { statementMs: 5_000, transactionMs: 10_000 },
}

/** With these the server detects a lost connection, and releases the locks of its session. */
const NOTICE_LOST_CALLERS = {
  tcp_user_timeout: "'10s'",
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '2',
  tcp_keepalives_count: '3',
}

/** The first version with a limit on the duration of a transaction. */
const TRANSACTION_TIMEOUT_VERSION = 170_000

export interface RoleOptions {
  /** Longest wait of a statement of these logins for a lock, in milliseconds. Default 5000. */
  lockTimeoutMs?: number
  /** Time after which an idle open transaction of these logins is ended, in milliseconds. Default 10000. */
  idleInTransactionMs?: number
}

/**
 * Makes the login `svc_<service>_login` of each service a member of its group role, with this password, and returns the
 * URL that each service connects with. Safe to repeat, also concurrently. The group roles and their permissions come
 * from the migrations, so the database has to be migrated first.
 *
 * The settings are attached to the login role because a transaction pooler passes no session settings through.
 */
export async function ensureRoles(
  adminUrl: string,
  passwords: Record<DatabaseService, string>,
  { lockTimeoutMs = 5_000, idleInTransactionMs = 10_000 }: RoleOptions = {},
): Promise<Record<DatabaseService, string>> {
  const client = openJobClient(adminUrl, 'svc-roles')
  client.on('error', () => {}) // a lost connection also fails the query in flight
  await client.connect()

  const ensureRole = async (service: DatabaseService, version: number): Promise<string> => {
    const login = loginOf(service)
    await ensureLogin(client, login, passwords[service])
    await client.query(`GRANT svc_${service} TO ${login}`)
    const { statementMs, transactionMs } = LIMITS[service]
    const settings: Record<string, string | number> = {
      lock_timeout: lockTimeoutMs,
      idle_in_transaction_session_timeout: idleInTransactionMs,
      statement_timeout: statementMs,
      ...(version >= TRANSACTION_TIMEOUT_VERSION && { transaction_timeout: transactionMs }),
      timezone: "'UTC'",
      ...NOTICE_LOST_CALLERS,
    }
    for (const [name, value] of Object.entries(settings))
      await client.query(`ALTER ROLE ${login} SET ${name} = ${value}`)
    await client.query(endAbandonedStatements(login))
    return withLogin(adminUrl, login, passwords[service])
  }
  try {
    await client.query('BEGIN')
    // In sequence: Postgres refuses two concurrent changes of one role.
    await client.query("SELECT pg_advisory_xact_lock(hashtext('svc roles'))")
    const { rows } = await client.query<{ version: number }>(
      "SELECT current_setting('server_version_num')::int AS version",
    )
    const { version } = rows[0]!
    const urls = { ledger: await ensureRole('ledger', version), console: await ensureRole('console', version) }
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

/** Ends a statement within a second after its caller closed the connection, if the server's system can detect that. */
function endAbandonedStatements(login: string): string {
  return `DO $$ BEGIN ALTER ROLE ${login} SET client_connection_check_interval = '1s';
    EXCEPTION WHEN invalid_parameter_value THEN NULL; END $$`
}

async function ensureLogin(client: Client, login: string, password: string): Promise<void> {
  const verifier = client.escapeLiteral(scramVerifier(password, randomBytes(16)))
  const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [login])
  await client.query(`${rowCount === 0 ? 'CREATE' : 'ALTER'} ROLE ${login} LOGIN PASSWORD ${verifier}`)
}

const iterations = 4096

/**
 * What Postgres stores for a password (SCRAM-SHA-256, RFC 5803). Sent instead of the password, so that no statement log
 * contains one. `salt`: 16 random bytes.
 */
export function scramVerifier(password: string, salt: Uint8Array): string {
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, iterations, 32, 'sha256')
  const hmac = (text: string) => createHmac('sha256', salted).update(text).digest()
  const storedKey = createHash('sha256').update(hmac('Client Key')).digest('base64')
  const serverKey = hmac('Server Key').toString('base64')
  return `SCRAM-SHA-256$${iterations}:${Buffer.from(salt).toString('base64')}$${storedKey}:${serverKey}`
}
