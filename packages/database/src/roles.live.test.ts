import { ask } from '@gateway/testbed/ask'
import { liveTest } from '@gateway/testbed/live-test'
import { expect } from 'vitest'
import { ensureRoles } from './roles.ts'

// Uses a separate server: roles are global to a server, and other tests log in with theirs.

liveTest(
  'a login has its group role and its limits, and its previous password no longer works',
  async ({ postgresServer }) => {
    const older = await ensureRoles(postgresServer.adminUrl, { ledger: 'older', console: 'c' })
    const newer = await ensureRoles(
      postgresServer.adminUrl,
      { ledger: "new'er", console: 'c' },
      { lockTimeoutMs: 1234, idleInTransactionMs: 5678 },
    )
    expect(await session(newer.ledger)).toEqual({
      user: 'svc_ledger_login',
      member: true,
      lock: '1234ms',
      idle: '5678ms',
      zone: 'UTC',
      statement: '15s',
      transaction: '30s',
      look: '1s',
      silence: '10000',
    })
    expect(await session(newer.console)).toMatchObject({
      user: 'svc_console_login',
      member: false,
      statement: '5s',
      transaction: '10s',
    })
    await expect(session(older.ledger)).rejects.toThrow('password authentication failed')
  },
)

liveTest('replicas can ensure the roles concurrently', async ({ postgresServer }) => {
  const passwords = { ledger: 'l', console: 'c' }
  const all = await Promise.all(Array.from({ length: 8 }, () => ensureRoles(postgresServer.adminUrl, passwords)))
  expect(await session(all[7]?.ledger ?? '')).toMatchObject({ member: true })
})

async function session(url: string): Promise<unknown> {
  const [row] = await ask(
    url,
    `SELECT current_user AS user, pg_has_role(current_user, 'svc_ledger', 'usage') AS member,
            current_setting('lock_timeout') AS lock, current_setting('timezone') AS zone,
            current_setting('idle_in_transaction_session_timeout') AS idle,
            current_setting('statement_timeout') AS statement, current_setting('transaction_timeout') AS transaction,
            current_setting('client_connection_check_interval') AS look, current_setting('tcp_user_timeout') AS silence`,
  )
  return row
}
