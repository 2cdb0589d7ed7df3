import { describe, expect } from 'vitest'
import { keepLocked } from '../fixtures/keep-locked.ts'
import { openTenant, test, untilBlocked } from '../fixtures/ledger-test.ts'
import { codeOf } from '../fixtures/replica.ts'
import type { Deps } from '../deps.ts'
import { passBarrier } from './wallets.ts'

const LOCK = 'SELECT FROM money.wallets WHERE project = $1 FOR UPDATE'

const barred = (replica: Pick<Deps, 'reads'>) => ({
  ...replica,
  notifier: { notify() {}, sent: async () => {} } as unknown as Deps['notifier'],
})

describe('a barrier', () => {
  test('does not block calls on the other wallets while it waits for a locked one', async ({
    database,
    fixture,
    replica,
  }) => {
    const tenants = [await openTenant(fixture), await openTenant(fixture), await openTenant(fixture)]
    const projects = tenants.map(({ project }) => project.id)
    for (const { project: kept } of tenants) {
      const letGo = await keepLocked(database.adminUrl, LOCK, [kept.id])
      let passed = false
      const barrier = passBarrier(barred(replica), { projects }).then(() => (passed = true))
      await untilBlocked(fixture, barrier)
      for (const { project, key, product } of tenants) {
        if (project.id === kept.id) continue
        expect(codeOf(await replica.admit(replica.item(key, product)))).toBe('admitted')
      }
      expect(passed).toBe(false)
      await letGo()
      await barrier
    }
  })

  test('notifies the followers of each project before it returns', async ({ fixture, replica }) => {
    const projects = [(await openTenant(fixture)).project.id, (await openTenant(fixture)).project.id]
    const notified: string[] = []
    let sent: string[] = []
    const notifier = {
      notify: (topic: string) => void notified.push(topic),
      sent: async () => void (sent = [...notified]),
    }
    await passBarrier({ ...replica, notifier: notifier as unknown as Deps['notifier'] }, { projects })
    expect(sent).toEqual(projects.map((project) => `access:${project}`))
  })

  test('waits for a wallet that is being created', async ({ database, fixture, replica }) => {
    const project = `prj_${Date.now()}`
    const letGo = await keepLocked(database.adminUrl, 'INSERT INTO money.wallets (project) VALUES ($1)', [project])
    let passed = false
    const barrier = passBarrier(barred(replica), { projects: [project] }).then(() => (passed = true))
    await untilBlocked(fixture, barrier)
    expect(passed).toBe(false)
    await letGo()
    await barrier
    const { rowCount } = await fixture.run('SELECT FROM money.wallets WHERE project = $1', [project])
    expect(rowCount).toBe(1)
  })

  test('waits for a start that is being written', async ({ database, fixture, replica }) => {
    const { project } = await openTenant(fixture)
    const start = `SELECT pg_advisory_xact_lock_shared(hashtext('money.starts'), hashtext($1))`
    const letGo = await keepLocked(database.adminUrl, start, [project.id])
    let passed = false
    const barrier = passBarrier(barred(replica), { projects: [project.id] }).then(() => (passed = true))
    await untilBlocked(fixture, barrier)
    expect(passed).toBe(false)
    await letGo()
    await barrier
  })

  test('waits for every locked wallet', async ({ database, fixture, replica }) => {
    const [one, two] = [await openTenant(fixture), await openTenant(fixture)]
    const projects = [one.project.id, two.project.id]
    const letGo = [
      await keepLocked(database.adminUrl, LOCK, [projects[0]]),
      await keepLocked(database.adminUrl, LOCK, [projects[1]]),
    ]
    let passed = false
    const barrier = passBarrier(barred(replica), { projects }).then(() => (passed = true))
    await untilBlocked(fixture, barrier)
    await letGo[0]!()
    await untilBlocked(fixture, barrier)
    expect(passed).toBe(false)
    await letGo[1]!()
    await barrier
  })
})
