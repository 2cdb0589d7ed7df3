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
      fixture.usage(id, { at: new Date(today.getTime() - daysAgo * DAY_MS), micro })
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
    const remove = (id: string) =>
      fixture.run(
        `WITH grants AS (DELETE FROM control.project_grants WHERE project = $1) DELETE FROM control.projects WHERE id = $1`,
        [id],
      )
    return { tenant, name, alpha, beta, gamma, list, order, add, spend, remove }
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

  test('continues after the amount of the last row, even if that row has changed or is gone', async ({
    fixture,
    wallets: { gamma, alpha, list, remove },
  }) => {
    const first = await list('&sort=balance&limit=1')
    expect(first.data).toMatchObject([{ project: gamma }])
    await fixture.run('UPDATE money.wallets SET funded = 20000 WHERE project = $1', [gamma])
    const second = await list(`&sort=balance&limit=1&cursor=${first.nextCursor}`)
    expect(second.data).toMatchObject([{ project: alpha }])
    await remove(alpha)
    const rest = await list(`&sort=balance&cursor=${second.nextCursor}`)
    expect(rest.data).toMatchObject([{ projectName: 'Beta' }, { project: gamma }])
  })

  test('refuses the cursor of a deleted project in a list by name [invalid_request]', async ({
    operator,
    wallets: { alpha, list, remove },
  }) => {
    const { nextCursor } = await list('&sort=project&limit=1')
    await remove(alpha)
    const refused = await operator.get(`/api/v2/wallets?sort=project&cursor=${nextCursor}`)
    expect([outcomeOf(refused), refused.body.error?.param]).toEqual(['400 invalid_request', 'cursor'])
  })

  test.for(['sort=balance&cursor=5', 'sort=balance&cursor=x.prj_1', 'sort=balance&cursor=prj_1', 'cursor=5.prj_1'])(
    'refuses a cursor that does not fit the order: %s [invalid_request]',
    async (query, { operator }) => {
      expect(outcomeOf(await operator.get(`/api/v2/wallets?${query}`))).toBe('400 invalid_request')
    },
  )

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
  test('equals the sum of the attempts of all projects, by month and product', async ({
    fixture,
    operator,
    wallets: { tenant },
  }) => {
    const projects: string[] = []
    for (let n = 0; n < 3; n++) projects.push((await fixture.project(tenant, 1n)).id)
    const products = [await fixture.publishProduct({}), await fixture.publishProduct({})]
    const from = new Date('2018-02-20T00:00:00Z')
    for (const project of projects)
      await fixture.run(
        `WITH call AS (
           SELECT n, 'inv_' || $1 || lpad(n::text, 5, '0') AS id, n % 7 = 0 AS failed, ($2::text[])[1 + n % 2] AS product,
                  $3::timestamptz + n * interval '3 hours' AS at, (1000000 * random())::int AS micro,
                  CASE WHEN n % 10 > 0 AND n % 7 > 0 THEN (1e15 * random())::bigint END AS cost
             FROM generate_series(1, 700) n),
         entry AS (
           INSERT INTO money.journal (project, seq, kind, reference, available, reserved, settled, outside, at)
           SELECT $1, 1 + n, CASE WHEN failed THEN 'release' ELSE 'settle' END, id, CASE WHEN failed THEN 0 ELSE -micro END, 0,
                  CASE WHEN failed THEN 0 ELSE micro END, 0, now()
             FROM call),
         moved AS (UPDATE money.wallets SET journal_seq = journal_seq + 700 WHERE project = $1)
         INSERT INTO money.attempts (id, invocation, attempt, state, project, product, key, reserved_micro, charged_micro,
                                     prompt_tokens, completion_tokens, admitted_at, closed_at, cost_pico)
         SELECT id, id, 1, CASE WHEN failed THEN 'Released' ELSE 'Settled' END, $1, product, 'key_' || n % 3, micro,
                CASE WHEN failed THEN 0 ELSE micro END, n, CASE WHEN n % 3 > 0 THEN n END, at, at, cost
           FROM call`,
        [project, products, from],
      )
    const behind = async () => {
      await fixture.run('SELECT money.roll_up_usage($1, 300)', [projects])
      const { rows } = await fixture.run(
        `SELECT sum(w.journal_seq - coalesce(p.seq, 0))::int AS behind
           FROM money.wallets w LEFT JOIN money.usage_positions p USING (project) WHERE w.project = ANY ($1)`,
        [projects],
      )
      return rows[0]?.['behind'] as unknown
    }
    await expect.poll(behind).toBe(0) // the ledger rolls up as well
    const exactly = async (group: string) => {
      const { rows } = await fixture.run(
        `SELECT ${group} count(*)::int AS calls, sum(prompt_tokens)::float AS "promptTokens",
                sum(coalesce(completion_tokens, 0))::float AS "completionTokens", sum(charged_micro)::float AS "chargedMicro",
                count(cost_pico)::int AS "costedCalls",
                sum(charged_micro) FILTER (WHERE cost_pico IS NOT NULL)::float AS "costedMicro",
                round(sum(cost_pico) / 1000000)::float AS "costMicro",
                (sum(charged_micro) FILTER (WHERE cost_pico IS NOT NULL) - round(sum(cost_pico) / 1000000))::float AS "marginMicro"
           FROM money.attempts WHERE project = ANY ($1) AND state = 'Settled' AND admitted_at < '2018-05-01T00:00:00Z'
          ${group && 'GROUP BY 1, 2 ORDER BY 1 DESC, sum(charged_micro) DESC'}`,
        [projects],
      )
      return rows
    }
    const { body } = await operator.get('/api/v2/revenue?from=2018-01&to=2018-04')
    const rows = await exactly(`to_char(admitted_at AT TIME ZONE 'UTC', 'YYYY-MM') AS month, product,`)
    expect(rows).toHaveLength(6)
    expect(body.data.map(({ productName: _, ...row }: { productName: string }) => row)).toEqual(rows)
    expect([body.total]).toEqual(await exactly(''))
  })

  test('never counts an unknown cost as zero, and shows a loss as a negative margin', async ({ fixture, operator }) => {
    const add = (month: string, product: string, costed: number, micro: number, pico: string) =>
      fixture.run(`INSERT INTO money.product_months VALUES ($1, $2, 5, 10, 5, 1000, $3, $4, $5)`, [
        month,
        product,
        costed,
        micro,
        pico,
      ])
    await add('2019-02-01', 'acme/unknown', 0, 0, '0')
    await add('2019-03-01', 'acme/loss', 2, 400, '500500000')
    await add('2019-03-01', 'acme/free', 5, 1000, '499999')
    const read = async (months: string) => (await operator.get(`/api/v2/revenue?${months}`)).body
    const unknown = await read('from=2019-02&to=2019-02')
    const none = { costedCalls: 0, costedMicro: 0, costMicro: null, marginMicro: null }
    expect(unknown).toMatchObject({ data: [{ productName: null, chargedMicro: 1_000, ...none }], total: none })
    const { data, total } = await read('from=2019-02&to=2019-03')
    expect(data).toMatchObject([
      { product: 'acme/free', costedCalls: 5, costMicro: 0, marginMicro: 1_000 },
      { product: 'acme/loss', costedMicro: 400, costMicro: 501, marginMicro: -101 },
      { product: 'acme/unknown', ...none },
    ])
    expect(total).toMatchObject({ calls: 15, chargedMicro: 3_000, costedCalls: 7, costedMicro: 1_400, costMicro: 501 })
    await add('2019-05-01', 'acme/huge', 5, 1000, '9007199254740991000000') // more than a bigint of Postgres holds
    expect((await read('from=2019-05&to=2019-05')).total.costMicro).toBe(Number.MAX_SAFE_INTEGER)
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
