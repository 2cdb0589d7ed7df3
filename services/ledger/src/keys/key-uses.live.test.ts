import { expect } from 'vitest'
import { test } from '../fixtures/ledger-test.ts'
import { openKeyUses } from './read-caller.ts'

test('key uses that could not be written are written the next time', async ({ fixture, replica, tenant }) => {
  const uses = openKeyUses(replica)
  uses.note(tenant.key.id)
  await fixture.run('ALTER TABLE money.key_uses RENAME TO key_uses_away')
  await expect(uses.write()).rejects.toThrow(/key_uses/)
  await fixture.run('ALTER TABLE money.key_uses_away RENAME TO key_uses')
  await uses.write()
  const { rows } = await fixture.run('SELECT key FROM money.key_uses WHERE key = $1', [tenant.key.id])
  expect(rows).toEqual([{ key: tenant.key.id }])
})
