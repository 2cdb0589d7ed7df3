import { liveTest } from '@gateway/testbed/live-test'
import { Client } from 'pg'
import { expect } from 'vitest'
import { ensureRoles } from './roles.ts'

// A server of its own: roles belong to the server, and other tests log in with theirs.

liveTest(
  'a login works under its group role and its limits, and the older password no more',
  async ({ postgresServer }) => {
    const older = await ensureRoles(postgresServer.adminUrl, { ledger: 'older' })
    const newer = await ensureRoles(
      postgresServer.adminUrl,
      { ledger: "new'er", console: 'c' },
      { lockTimeoutMs: 1234, idleInTransactionMs: 5678 },
    )
    expect(await ask(newer.ledger)).toEqual({
      user: 'svc_ledger_login',
      member: true,
      lock: '1234ms',
      idle: '5678ms',
      zone: 'UTC',
    })
    expect(await ask(newer.console)).toMatchObject({ user: 'svc_console_login', member: false })
    await expect(ask(older.ledger)).rejects.toThrow('password authentication failed')
  },
)

liveTest('replicas may ensure the roles at the same moment', async ({ postgresServer }) => {
  const passwords = { ledger: 'l', console: 'c' }
  const all = await Promise.all(Array.from({ length: 8 }, () => ensureRoles(postgresServer.adminUrl, passwords)))
  expect(await ask(all[0]?.ledger ?? '')).toMatchObject({ member: true })
})

async function ask(url: string): Promise<unknown> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(
    `SELECT current_user AS user, pg_has_role(current_user, 'svc_ledger', 'usage') AS member,
            current_setting('lock_timeout') AS lock, current_setting('timezone') AS zone,
            current_setting('idle_in_transaction_session_timeout') AS idle`,
  )
  await client.end()
  return rows[0]
}
