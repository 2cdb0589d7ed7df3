import { describe, expect } from 'vitest'
import { consoleTest, outcomeOf } from '../console.fixture.ts'

const DAY_MS = 86_400_000

const test = consoleTest
  .extend('operator', async ({ signIn }) => signIn({ platformOperator: true }))
  /** Three projects of one organization, whose name no other test uses. */
  .extend('wallets', async ({ fixture, operator, task }) => {
    const name = `Org ${task.id}`
    const tenant = await fixture.tenant()
    await fixture.run('UPDATE control.tenants SET name = $2 WHERE id = $1', [tenant.tenant, name])
    const today = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS)
    const add = async (project: string, { funded = 0n, reserved = 0n, settled = 0n, below = [] as bigint[] } = {}) => {
      const { id } = await fixture.project(tenant)
      await fixture.run('UPDATE control.projects SET name = $2 WHERE id = $1', [id, project])
      await fixture.run(
        `INSERT INTO money.wallets (project, funded, reserved, settled, notice_below) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (project) DO UPDATE SET funded = $2, reserved = $3, settled = $4, notice_below = $5`,
        [id, funded, reserved, settled, below],
      )
      return id
    }
    const spend = (id: string, daysAgo: number, micro: number) =>
      fixture.run(
        `INSERT INTO money.usage_days (project, day, product, key, calls, prompt_tokens, completion_tokens, micro)
         VALUES ($1, $2, 'acme/swift', 'key_1', 1, 10, 5, $3)`,
        [id, new Date(today.getTime() - daysAgo * DAY_MS), micro],
      )
    const [alpha, beta, gamma] = [
      await add('Alpha', { funded: 1_000n, reserved: 100n, settled: 200n, below: [900n, 10n] }),
      await add('Beta', { funded: 9_000n }),
      await add('Gamma'),
    ]
    await spend(alpha, 0, 70)
    await spend(alpha, 6, 70)
    await spend(alpha, 7, 1_000)
    await spend(alpha, 30, 5_000)
    await spend(beta, 20, 3_000)
    const list = async (query = '') =>
      (await operator.get(`/api/v2/wallets?q=${encodeURIComponent(name)}${query}`)).body
    const order = async (query: string): Promise<string[]> =>
      (await list(query)).data.map(({ projectName }: { projectName: string }) => projectName)
    return { tenant, name, alpha, beta, gamma, list, order, add, spend }
  })

describe('GET /api/v2/wallets', () => {
  test('lists each wallet with its spending, runway and crossed alert rules', async ({ wallets }) => {
    const { tenant, name, alpha, list } = wallets
    const { data, nextCursor } = await list()
    expect(nextCursor).toBeNull()
    const [first, second, third] = data
    expect(first).toEqual({
      tenant: tenant.tenant,
      tenantName: name,
      project: alpha,
      projectName: 'Alpha',
      balanceMicro: 800,
      availableMicro: 700,
      reservedMicro: 100,
      spendMicro: 1_140,
      runwayDays: 35, // 700 at 140 in 7 days
      alerts: 1,
    })
    expect(second).toMatchObject({ projectName: 'Beta', spendMicro: 3_000, runwayDays: null, alerts: 0 })
    expect(third).toMatchObject({ projectName: 'Gamma', balanceMicro: 0, spendMicro: 0 })
  })

  test('sorts by each column, in both directions, with a missing runway last', async ({ wallets: { order } }) => {
    expect(await order('&sort=balance')).toEqual(['Gamma', 'Alpha', 'Beta'])
    expect(await order('&sort=available&order=desc')).toEqual(['Beta', 'Alpha', 'Gamma'])
    expect((await order('&sort=reserved&order=desc'))[0]).toBe('Alpha')
    expect(await order('&sort=spend&order=desc')).toEqual(['Beta', 'Alpha', 'Gamma'])
    expect((await order('&sort=runway'))[0]).toBe('Alpha')
    expect((await order('&sort=runway&order=desc'))[0]).toBe('Alpha')
    expect((await order('&sort=alerts&order=desc'))[0]).toBe('Alpha')
    expect(await order('&sort=project&order=desc')).toEqual(['Gamma', 'Beta', 'Alpha'])
    expect(new Set(await order('&sort=organization'))).toEqual(new Set(['Alpha', 'Beta', 'Gamma']))
  })

  test('pages through every order without a gap or a repetition', async ({ wallets: { list } }) => {
    for (const sort of ['organization', 'balance', 'runway', 'alerts'])
      for (const order of ['asc', 'desc']) {
        const names: string[] = []
        for (let cursor: string | null = ''; cursor !== null;) {
          const page: { data: { projectName: string }[]; nextCursor: string | null } = await list(
            `&sort=${sort}&order=${order}&limit=1${cursor && `&cursor=${cursor}`}`,
          )
          names.push(...page.data.map(({ projectName }) => projectName))
          cursor = page.nextCursor
        }
        expect([sort, order, names.length, new Set(names).size]).toEqual([sort, order, 3, 3])
      }
  })

  test('finds a project by a part of its name or ID, in any case', async ({ operator, wallets: { beta, tenant } }) => {
    for (const q of [beta.toUpperCase(), beta.slice(4)]) {
      const { body } = await operator.get(`/api/v2/wallets?q=${q}`)
      expect(body.data.map(({ project }: { project: string }) => project)).toEqual([beta])
    }
    expect((await operator.get(`/api/v2/wallets?q=${tenant.tenant}`)).body.data).toHaveLength(3)
  })

  test('refuses the cursor of another list, and other users [invalid_request] [not_permitted]', async ({
    operator,
    stack,
  }) => {
    expect(outcomeOf(await operator.get('/api/v2/wallets?cursor=key_1'))).toBe('400 invalid_request')
    expect(outcomeOf(await stack.owner.get('/api/v2/wallets'))).toBe('403 not_permitted')
  })
})

describe('GET /api/v2/revenue', () => {
  test('sums the charges of all projects by month and product', async ({
    fixture,
    operator,
    wallets: { alpha, beta },
  }) => {
    const product = await fixture.publishProduct({})
    const charge = (project: string, day: string, micro: number) =>
      fixture.run(
        `INSERT INTO money.usage_days (project, day, product, key, calls, prompt_tokens, completion_tokens, micro)
         VALUES ($1, $2, $3, '', 2, 10, 5, $4)`,
        [project, day, product, micro],
      )
    await charge(alpha, '2019-02-01T00:00:00Z', 100)
    await charge(beta, '2019-02-28T00:00:00Z', 10)
    await charge(beta, '2019-03-01T00:00:00Z', 1)
    await charge(beta, '2019-04-01T00:00:00Z', 5_000)
    const { body } = await operator.get('/api/v2/revenue?from=2019-01&to=2019-03')
    const name = (await fixture.run('SELECT name FROM control.products WHERE id = $1', [product])).rows[0].name
    const row = { product, productName: name }
    expect(body).toMatchObject({
      from: '2019-01',
      to: '2019-03',
      data: [
        { month: '2019-03', ...row, calls: 2, promptTokens: 10, completionTokens: 5, chargedMicro: 1 },
        { month: '2019-02', ...row, calls: 4, promptTokens: 20, completionTokens: 10, chargedMicro: 110 },
      ],
      totalMicro: 111,
    })
  })

  test('covers six months unless asked otherwise', async ({ operator }) => {
    const months = async (query: string) => {
      const { body } = await operator.get(`/api/v2/revenue${query}`)
      return [body.from, body.to]
    }
    expect(await months('?to=2026-02')).toEqual(['2025-09', '2026-02'])
    expect(await months('?from=2025-11')).toEqual(['2025-11', '2026-04'])
    expect((await months(''))[1]).toBe(new Date().toISOString().slice(0, 7))
  })

  test('refuses months that are reversed or too many, and other users [invalid_request] [not_permitted]', async ({
    operator,
    stack,
  }) => {
    for (const query of ['from=2026-03&to=2026-02', 'from=2024-01&to=2026-01', 'from=2026-13'])
      expect(outcomeOf(await operator.get(`/api/v2/revenue?${query}`))).toBe('400 invalid_request')
    expect(outcomeOf(await stack.owner.get('/api/v2/revenue'))).toBe('403 not_permitted')
  })
})
