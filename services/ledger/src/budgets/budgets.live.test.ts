import { randomBytes } from 'node:crypto'
import { describe, expect } from 'vitest'
import type { Fixture, KeyFixture } from '@gateway/testbed/fixture'
import type { BudgetRequest } from '@gateway/ledger-protocol/ledger-reads'
import { checkBooks, formatFinding } from '../check/check-books.ts'
import { checkBudgets } from '../check/check-budgets.ts'
import { keepLocked } from '../fixtures/keep-locked.ts'
import { findingsOf, test as ledgerTest } from '../fixtures/ledger-test.ts'
import { codeOf, countCodes, type openReplica } from '../fixtures/replica.ts'
import { removeBudget, setBudget } from './budgets.ts'

// Monthly budgets of users, teams and tags (money §6.4). Each call in these tests reserves 100.

type Replica = Awaited<ReturnType<typeof openReplica>>
type Kind = BudgetRequest['kind']

const CALLERS = 200
const FIT = 12

interface Organization {
  tenant: string
  team: string
  owner: string
  product: string
  /** Of two projects. */
  keys: KeyFixture[]
  projects: string[]
}

async function openOrganization(fixture: Fixture): Promise<Organization> {
  const owners = await fixture.tenant()
  const product = await fixture.product({ promptPico: 0n, completionPico: 1_000_000n, requestPico: 0n })
  const projects = [await fixture.project(owners, 1_000_000n), await fixture.project(owners, 1_000_000n)]
  const keys: KeyFixture[] = []
  for (const project of projects) {
    await fixture.assign(project.id, product)
    keys.push(await fixture.key({ project, by: owners.owner }))
  }
  return { ...owners, product, keys, projects: projects.map(({ id }) => id) }
}

const test = ledgerTest
  .extend('organization', ({ fixture }) => openOrganization(fixture))
  .extend('set', ({ organization: { tenant, team, owner }, replica }) => {
    const subjects: Record<Kind, string> = { user: owner, team, tag: 'batch' }
    return async (kind: Kind, limitMicro: number, hard = true) => {
      const id = `bud_${randomBytes(8).toString('hex')}`
      const by = { tenant, createdBy: owner }
      await setBudget({ reads: replica.reads }, { id, ...by, kind, subject: subjects[kind], limitMicro, hard })
      return id
    }
  })

const budgetOf = async ({ reads }: Replica, id: string) => {
  const { spent, reserved, limitMicro } = await reads.prisma.budget.findUniqueOrThrow({ where: { id } })
  return { spent, reserved, limitMicro }
}

/** Kind, threshold, project and spent amount of each notice. */
const noticesOf = async ({ reads }: Replica, projects: string[]) => {
  const rows = await reads.prisma.notice.findMany({
    where: { project: { in: projects } },
    orderBy: { threshold: 'asc' },
  })
  return rows.map(({ kind, threshold, project, spentMicro }) => [kind, threshold, project, spentMicro])
}

describe('a hard budget', () => {
  for (const kind of ['user', 'team', 'tag'] as const)
    test(`of a ${kind} admits exactly ${FIT} of ${CALLERS} concurrent calls of two projects through two ledgers [budget_reached]`, async ({
      organization: { keys, product, projects, tenant },
      set,
      replica,
      other,
    }) => {
      const id = await set(kind, FIT * 100 + 99)
      const outcomes = await Promise.all(
        Array.from({ length: CALLERS }, (_, n) => {
          const ledger = n % 2 ? replica : other
          return ledger.admit(ledger.item(keys[(n >> 1) % 2]!, product, { tag: 'batch' }))
        }),
      )
      expect(countCodes(outcomes)).toEqual({ admitted: FIT, budget_reached: CALLERS - FIT })
      expect(await budgetOf(replica, id)).toMatchObject({ spent: 0n, reserved: 1_200n })
      const admitted = outcomes.flatMap((outcome) => (outcome.kind === 'admitted' ? [outcome.invocation] : []))
      // Half are released, and half are charged 30: what they leave is admitted again, to the micro-USD.
      await Promise.all(
        admitted.map((call, n) =>
          n % 2 ? replica.release(call) : other.settle(call, { promptTokens: 0, completionTokens: 30 }),
        ),
      )
      expect(await budgetOf(replica, id)).toMatchObject({ spent: 180n, reserved: 0n })
      const again = await Promise.all(
        Array.from({ length: 40 }, (_, n) => replica.admit(replica.item(keys[n % 2]!, product, { tag: 'batch' }))),
      )
      expect(countCodes(again)).toEqual({ admitted: 11, budget_reached: 29 })
      for (const project of projects) expect(await findingsOf(replica, project)).toEqual([])
      expect(await checkBudgets(replica.reads, projects)).toEqual([])
      await removeBudget({ reads: replica.reads }, { id, tenant })
    })

  test('says what it is of, what it holds and when it resets', async ({ organization, set, replica }) => {
    const { keys, product } = organization
    await set('tag', 150)
    await replica.admit(replica.item(keys[0]!, product, { tag: 'batch' }))
    expect(await replica.admit(replica.item(keys[1]!, product, { tag: 'batch' }))).toMatchObject({
      code: 'budget_reached',
      facts: { kind: 'tag', subject: 'batch', limitMicro: 150, spentMicro: 0, reservedMicro: 100, neededMicro: 100 },
    })
    expect(codeOf(await replica.admit(replica.item(keys[0]!, product, { tag: 'chat' })))).toBe('admitted')
    expect(codeOf(await replica.admit(replica.item(keys[0]!, product)))).toBe('admitted')
  })

  test('writes the notice of 100 percent when it is mostly spent and first refuses a call for good', async ({
    organization: { keys, product, projects },
    set,
    replica,
  }) => {
    await set('team', 220)
    const notices = () => noticesOf(replica, projects)
    const items = keys.map((key) => replica.item(key, product))
    for (const item of items) await replica.admit(item)
    const refused = async () => codeOf(await replica.admit(replica.item(keys[1]!, product)))
    expect(await refused()).toBe('budget_reached')
    expect(await notices()).toEqual([]) // it fits again if the calls in progress are released
    for (const { id: call } of items) await replica.settle(call, { promptTokens: 0, completionTokens: 90 })
    for (let n = 0; n < 3; n++) expect(await refused()).toBe('budget_reached')
    const mostlySpent = ['budget.percent', 80n, projects[1], 180n]
    expect(await notices()).toEqual([mostlySpent, ['budget.percent', 100n, projects[1], 180n]])
  })

  test('starts again with the month, and a call of the last month does not count towards it', async ({
    organization: { keys, product },
    set,
    replica,
    fixture,
  }) => {
    const id = await set('team', 100)
    const item = replica.item(keys[0]!, product)
    await replica.admit(item)
    // As if the call were of the last month.
    await fixture.run(`UPDATE money.budgets SET window_start = window_start - interval '1 month' WHERE id = $1`, [id])
    await fixture.run(
      `UPDATE money.reservations SET budget_windows = ARRAY[budget_windows[1] - interval '1 month'] WHERE id = $1`,
      [item.id],
    )
    expect(codeOf(await replica.admit(replica.item(keys[1]!, product)))).toBe('admitted')
    await replica.settle(item.id, { promptTokens: 0, completionTokens: 70 })
    expect(await budgetOf(replica, id)).toMatchObject({ spent: 0n, reserved: 100n })
  })

  test('waits for another session that holds it, and delays no other organization', async ({
    organization,
    set,
    replica,
    database,
    tenant,
  }) => {
    const { keys, product } = organization
    const id = await set('team', 100)
    const unlock = await keepLocked(database.adminUrl, 'SELECT FROM money.budgets WHERE id = $1 FOR UPDATE', [id])
    let decided = 0
    const waiting = keys.map((key) => replica.admit(replica.item(key, product)).finally(() => decided++))
    expect(codeOf(await replica.admit(replica.item(tenant.key, tenant.product)))).toBe('admitted')
    expect(decided).toBe(0)
    await unlock()
    expect(countCodes(await Promise.all(waiting))).toEqual({ admitted: 1, budget_reached: 1 })
  })
})

test('the check derives budgets from all projects again, before and after it has folded their journals', async ({
  organization: { keys, product, projects, tenant },
  set,
  replica,
  fixture,
}) => {
  const id = await set('team', 10_000)
  const findings = async () => (await checkBudgets(replica.reads, [projects[1]!])).map(({ what }) => what)
  const spend = async () => {
    for (const key of keys) {
      const item = replica.item(key, product)
      await replica.admit(item)
      await replica.settle(item.id, { promptTokens: 0, completionTokens: 60 })
    }
  }
  await spend()
  await replica.admit(replica.item(keys[0]!, product))
  expect(await findings()).toEqual([])
  await checkBooks(replica.reads, { projects: [projects[0]!] })
  await spend()
  expect(await findings()).toEqual([])
  await checkBooks(replica.reads, { projects, whole: true })
  expect(await findings()).toEqual([])
  expect(await budgetOf(replica, id)).toMatchObject({ spent: 240n, reserved: 100n })
  await fixture.run('UPDATE money.budgets SET spent = spent - 1, reserved = reserved - 1 WHERE id = $1', [id])
  expect(await findings()).toEqual(['reserved differs from the open reservations', 'spent differs from the journals'])
  await spend()
  const report = await checkBooks(replica.reads)
  expect(report.findings.map(formatFinding)).toContain(
    `${tenant}: budget ${id} from ${monthOf(new Date())}: spent differs from the journals: expected 360, found 359 micro-USD`,
  )
  await fixture.run('UPDATE money.budgets SET spent = spent + 1, reserved = reserved + 1 WHERE id = $1', [id])
})

test('the check counts what a deleted project has spent and reserved', async ({
  organization: { keys, product, projects },
  set,
  replica,
  fixture,
}) => {
  await set('team', 10_000)
  const findings = () => checkBudgets(replica.reads, [projects[1]!])
  const [spent, open] = [replica.item(keys[0]!, product), replica.item(keys[0]!, product)]
  for (const item of [spent, open]) await replica.admit(item)
  await replica.settle(spent.id, { promptTokens: 0, completionTokens: 60 })
  for (const [table, column] of [
    ['keys', 'project'],
    ['assignments', 'project'],
    ['project_grants', 'project'],
    ['projects', 'id'],
  ])
    await fixture.run(`DELETE FROM control.${table} WHERE ${column} = $1`, [projects[0]])
  expect(await findings()).toEqual([])
  await checkBooks(replica.reads, { projects: [projects[0]!] })
  expect(await findings()).toEqual([])
})

const monthOf = (day: Date) => new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth())).toISOString()

test('a soft budget counts and refuses nothing', async ({ organization: { keys, product }, set, replica }) => {
  const id = await set('user', 100, false)
  const items = keys.map((key) => replica.item(key, product))
  expect(countCodes(await Promise.all(items.map((item) => replica.admit(item))))).toEqual({ admitted: 2 })
  for (const { id: call } of items) await replica.settle(call, { promptTokens: 0, completionTokens: 100 })
  expect(await budgetOf(replica, id)).toMatchObject({ spent: 200n, reserved: 0n })
})

test('a budget lowered below what is spent writes its notices with the next charge, and each of them once', async ({
  organization: { keys, product, projects },
  set,
  replica,
}) => {
  const notices = () => noticesOf(replica, projects)
  const settle = async (completionTokens: number) => {
    const item = replica.item(keys[0]!, product)
    await replica.admit(item)
    await replica.settle(item.id, { promptTokens: 0, completionTokens })
  }
  await set('team', 1_000, false)
  await settle(90)
  expect(await notices()).toEqual([])
  await set('team', 100, false)
  await settle(1)
  const [mostly, full] = [80n, 100n].map((threshold) => ['budget.percent', threshold, projects[0]])
  expect(await notices()).toEqual([[...mostly!, 91n]])
  await settle(20)
  const both = [
    [...mostly!, 91n],
    [...full!, 111n],
  ]
  expect(await notices()).toEqual(both)
  await settle(20)
  expect(await notices()).toEqual(both)
})

test('a removed budget still ends what counted towards it, and a new one of its subject starts at zero', async ({
  organization: { tenant, keys, product },
  set,
  replica,
}) => {
  const id = await set('tag', 100)
  const item = replica.item(keys[0]!, product, { tag: 'batch' })
  await replica.admit(item)
  expect(await removeBudget({ reads: replica.reads }, { id, tenant: 'ten_another' })).toEqual({ found: false })
  expect(await removeBudget({ reads: replica.reads }, { id, tenant })).toEqual({ found: true })
  const next = await set('tag', 100)
  expect(next).not.toBe(id)
  await replica.settle(item.id, { promptTokens: 0, completionTokens: 60 })
  expect(await budgetOf(replica, id)).toMatchObject({ spent: 60n, reserved: 0n })
  expect(await budgetOf(replica, next)).toMatchObject({ spent: 0n, reserved: 0n })
})

test('a budget lowered below what is spent and then removed writes no notices', async ({
  organization: { tenant, keys, product, projects },
  set,
  replica,
}) => {
  const id = await set('team', 1_000)
  const items = keys.map((key) => replica.item(key, product))
  for (const item of items) await replica.admit(item)
  await replica.settle(items[0]!.id, { promptTokens: 0, completionTokens: 90 })
  await set('team', 50)
  expect(await removeBudget({ reads: replica.reads }, { id, tenant })).toEqual({ found: true })
  await replica.settle(items[1]!.id, { promptTokens: 0, completionTokens: 90 })
  expect(await budgetOf(replica, id)).toMatchObject({ spent: 180n, reserved: 0n })
  expect(await noticesOf(replica, projects)).toEqual([])
})

test('the tag of a key binds: a call may repeat it, and no other one', async ({ organization, fixture, replica }) => {
  const { owner, tenant, team, projects, product } = organization
  const project = { id: projects[0]!, tenant, team }
  const key = await fixture.key({ project, by: owner, tag: 'batch' })
  const tagOf = async (tag?: string) => {
    const item = replica.item(key, product, { ...(tag && { tag }) })
    const code = codeOf(await replica.admit(item))
    if (code !== 'admitted') return code
    return (await replica.reads.prisma.reservation.findUniqueOrThrow({ where: { id: item.id } })).tag
  }
  expect([await tagOf(), await tagOf('batch'), await tagOf('chat')]).toEqual(['batch', 'batch', 'tag_mismatch'])
})
