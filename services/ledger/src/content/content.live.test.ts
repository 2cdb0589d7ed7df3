import { expect } from 'vitest'
import { test as tenantTest } from '../fixtures/ledger-test.ts'
import { expireContent } from '../maintenance/retention-cleaner.ts'
import { readCaptureRules, recordContent } from './record-content.ts'

const rules = { version: 'v1', publicKey: 'k', hide: ['email' as const], patterns: [] }

const test = tenantTest.extend('content', ({ fixture, replica, tenant, task }) => {
  const project = tenant.project.id
  const invocation = (name: string) => `inv_${task.id}_${name}`
  return {
    rules: () => readCaptureRules(replica, { project }),
    /** Sets what the console stores; null: off. */
    capture: (more: object | null) =>
      fixture.run('UPDATE control.projects SET capture = $2 WHERE id = $1', [
        project,
        more && JSON.stringify({ ...rules, retentionDays: 7, since: '2026-01-01T00:00:00.000Z', ...more }),
      ]),
    record: (name: string, version = 'v1', sealed = 'sealed') =>
      recordContent(replica, { calls: [{ invocation: invocation(name), project, version, sealed }] }),
    age: (name: string, days: number) =>
      fixture.run(`UPDATE money.captured_content SET at = at - $2 * interval '1 day' WHERE invocation = $1`, [
        invocation(name),
        days,
      ]),
    async kept() {
      const { rows } = await fixture.run(
        'SELECT invocation, sealed FROM money.captured_content WHERE project = $1 ORDER BY invocation',
        [project],
      )
      return rows.map((row) => `${(row['invocation'] as string).split('_').at(-1)} ${row['sealed']}`)
    },
  }
})

test('content is stored while its project captures by the same rules, and a later attempt replaces it', async ({
  content,
}) => {
  expect(await content.rules()).toEqual({ rules: null })
  await content.record('a')
  expect(await content.kept()).toEqual([])
  await content.capture({})
  expect(await content.rules()).toEqual({ rules })
  await content.record('a')
  await content.record('a', 'v1', 'later')
  await content.record('b', 'v0')
  expect(await content.kept()).toEqual(['a later'])
})

test('content is deleted when its retention ends, and at once when capture is turned off or on again', async ({
  replica,
  content,
}) => {
  await content.capture({})
  for (const name of ['a', 'b', 'c']) await content.record(name)
  await content.age('a', 6)
  await content.age('b', 8)
  await expireContent(replica)
  expect(await content.kept()).toEqual(['a sealed', 'c sealed'])
  await content.capture({ retentionDays: 3 })
  await expireContent(replica)
  expect(await content.kept()).toEqual(['c sealed'])
  await content.capture({ since: new Date(Date.now() + 60_000).toISOString() })
  await expireContent(replica)
  expect(await content.kept()).toEqual([])
  await content.capture({})
  await content.record('d')
  await content.capture(null)
  await expireContent(replica)
  expect(await content.kept()).toEqual([])
})

test('content of a project that was deleted is deleted', async ({ fixture, replica, task }) => {
  const invocation = `inv_${task.id}`
  const row = [invocation, `prj_${task.id}`]
  await fixture.run(
    `INSERT INTO money.captured_content (invocation, project, at, sealed) VALUES ($1, $2, now(), 'x')`,
    row,
  )
  await expireContent(replica)
  const left = await fixture.run('SELECT FROM money.captured_content WHERE invocation = $1', [invocation])
  expect(left.rowCount).toBe(0)
})
