import { createHash } from 'node:crypto'
import { journalEntry, type JournalEntry } from '@gateway/api/console/statement'
import { expect } from 'vitest'
import { outcomeOf, type Caller } from '../console.fixture.ts'
import { callsTest } from './calls.fixture.ts'

const test = callsTest
  /** Items of all pages of a list. */
  .extend('all', ({ stack }) => async (list: string, limit = 2): Promise<unknown[]> => {
    const items: unknown[] = []
    for (let cursor = ''; ;) {
      const query = `limit=${limit}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`
      const { status, body } = await stack.owner.get(`${stack.projectPath}/${list}?${query}`)
      expect(status).toBe(200)
      items.push(...body.data)
      if (body.nextCursor === null) return items
      cursor = body.nextCursor
    }
  })
  .extend('csv', ({ stack, console }) => async (path: string, { token }: Caller = stack.owner) => {
    const answer = await fetch(console.url + path, { headers: { Authorization: `Bearer ${token}` } })
    return { headers: answer.headers, text: await answer.text() }
  })

const today = () => new Date().toISOString().slice(0, 10)
const thisMonth = () => today().slice(0, 7)

test('a statement accounts for the closing balance, and reports the reserved amount, the last check and the seal', async ({
  stack,
  tenant,
  calls,
  csv,
}) => {
  const { operator, model, secret } = tenant
  await operator.post(`${stack.projectPath}/wallet/corrections`, { correctionId: 'c1', micro: -500, reason: 'twice' })
  for (let n = 0; n < 3; n++) await calls.settle((await calls.admit(secret, model)).id)
  await calls.release((await calls.admit(secret, model)).id)
  await calls.admit(secret, model)
  const month = thisMonth()
  const { body } = await stack.owner.get(`${stack.projectPath}/statement?month=${month}`)
  const moved = { fundedMicro: 1_000_000, correctedMicro: -500, chargedMicro: 150, closingMicro: 999_350, calls: 3 }
  const { asOf, check, seal, ...rest } = body
  expect(rest).toEqual({
    from: `${month}-01`,
    to: expect.stringMatching(/^\d{4}-\d\d-01$/),
    final: false,
    openingMicro: 0,
    ...moved,
    charges: [{ model, calls: 3, chargedMicro: 150 }],
    tags: [{ tag: null, calls: 3, chargedMicro: 150 }],
    tagCount: 1,
    days: [{ day: today(), ...moved }],
    reservedMicro: 308,
    reconciled: true,
    differences: [],
  })
  expect(Math.abs(Date.parse(asOf) - Date.now())).toBeLessThan(60_000)
  expect(check === null || check.findings === 0).toBe(true)
  expect(seal).toEqual({ entry: 11, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) })
  const wallet = (await stack.owner.get(`${stack.projectPath}/wallet`)).body
  expect(rest.closingMicro).toBe(wallet.availableMicro + wallet.reservedMicro)

  const file = await csv(`${stack.projectPath}/statement?month=${month}&format=csv`)
  expect(file.headers.get('content-type')).toMatch(/^text\/csv; charset=utf-8/)
  expect(file.headers.get('content-disposition')).toBe(
    `attachment; filename="statement-${stack.project}-${rest.from}-${rest.to}.csv"`,
  )
  expect(file.text.split('\r\n')).toEqual([
    'day,entry,model,tag,calls,amount_micro,balance_micro',
    `${month}-01,opening,,,,,0`,
    `${today()},funded,,,,1000000,1000000`,
    `${today()},corrected,,,,-500,999500`,
    `${today()},charged,${model},,3,-150,999350`,
    `${rest.to},closing,,,,,999350`,
    '',
  ])
})

test('statements before the first funding and in the future report the balance without bookings', async ({
  stack,
  tenant,
}) => {
  expect(tenant.model).not.toBe('')
  const read = async (query: string) => (await stack.owner.get(`${stack.projectPath}/statement?${query}`)).body
  const none = { fundedMicro: 0, correctedMicro: 0, chargedMicro: 0, calls: 0, days: [], reconciled: true }
  expect(await read('month=2020-02')).toMatchObject({
    from: '2020-02-01',
    to: '2020-03-01',
    ...none,
    final: true,
    openingMicro: 0,
    closingMicro: 0,
  })
  expect(await read('from=9990-01-01&to=9990-06-01')).toMatchObject({
    ...none,
    final: false,
    openingMicro: 1_000_000,
    closingMicro: 1_000_000,
  })
  expect(await read('')).toMatchObject({ from: `${thisMonth()}-01`, closingMicro: 1_000_000 })
})

test.for([
  'month=2026-13',
  'month=1969-12',
  'month=2026-11&from=2026-11-01&to=2026-11-02',
  'from=2026-11-01',
  'to=2026-11-01',
  'from=2026-11-02&to=2026-11-02',
  'from=2025-01-01&to=2026-03-01',
  'from=2026-02-30&to=2026-03-01',
  'from=2026-11-01T00:00:00Z&to=2026-11-02T00:00:00Z',
  'format=xml',
  'colour=red',
])('rejects a statement query with %s [invalid_request]', async (query, { stack }) => {
  expect(outcomeOf(await stack.owner.get(`${stack.projectPath}/statement?${query}`))).toBe('400 invalid_request')
})

test('reports a statement that does not reconcile, and counts it for an alert', async ({
  stack,
  tenant,
  fixture,
  console,
  csv,
}) => {
  expect(tenant.model).not.toBe('')
  const differed = async () => {
    const text = await (await fetch(`${console.metricsUrl}/metrics`)).text()
    return Number(/^console_statements_differed_total\{?[^\n]* (\d+)/m.exec(text)?.[1] ?? 0)
  }
  const before = await differed()
  await fixture.run(`INSERT INTO money.fundings VALUES ($1, 'without an entry', 1, 'usr_x', now())`, [stack.project])
  const { body } = await stack.owner.get(`${stack.projectPath}/statement`)
  const what = 'records of fundings in this time'
  expect([body.reconciled, body.differences]).toEqual([false, [{ what, expected: 1_000_000, found: 1_000_001 }]])
  expect(await differed()).toBe(before + 1)
  expect((await csv(`${stack.projectPath}/statement?format=csv`)).text).toContain(`not reconciled: ${what}`)
})

test('entries archived before daily totals existed count in the opening balance but have no statement [statement_archived]', async ({
  stack,
  fixture,
}) => {
  const project = await fixture.project({ tenant: stack.tenant, team: stack.team, owner: stack.owner.id })
  const path = `${stack.path}/projects/${project.id}/statement`
  await fixture.run(
    `INSERT INTO money.journal_days (project, day, kind, product, entries, reserved, settled, outside)
     VALUES ($1, '2026-03-31', 'opening', '', 9, 0, 40, -100)`,
    [project.id],
  )
  await fixture.run(
    `INSERT INTO money.wallets (project, funded, settled, journal_seq, seal) VALUES ($1, 100, 40, 9, sha256('9'))`,
    [project.id],
  )
  const owner = { get: (query: string) => stack.owner.get(`${path}?${query}`) }
  const refused = await owner.get('from=2026-03-31&to=2026-04-30')
  expect([outcomeOf(refused), refused.body.error.param]).toEqual(['404 statement_archived', 'from'])
  expect(refused.body.error.resolution).toContain('on 2026-04-01 or later')
  const { body } = await owner.get('month=2026-04')
  expect(body).toMatchObject({ openingMicro: 60, closingMicro: 60, reconciled: true })
})

test('a statement with more lines than a table may have is exact as JSON and refused as CSV [invalid_request]', async ({
  stack,
  fixture,
  csv,
}) => {
  const project = await fixture.project({ tenant: stack.tenant, team: stack.team, owner: stack.owner.id })
  const path = `${stack.path}/projects/${project.id}/statement`
  await fixture.run(
    `INSERT INTO money.journal_days (project, day, kind, product, tag, entries, reserved, settled, outside)
     SELECT $1, date '2026-03-01' + n % 2, 'settle', 'acme/' || n % 3, 'tag ' || lpad(n::text, 5, '0'), 2, 0, n, 0
       FROM generate_series(1, 50001) n`,
    [project.id],
  )
  const { status, body } = await stack.owner.get(`${path}?month=2026-03`)
  const charged = (50_001 * 50_002) / 2
  expect([status, body.chargedMicro, body.calls, body.closingMicro]).toEqual([200, charged, 100_002, -charged])
  expect(body.days.map(({ calls }: { calls: number }) => calls)).toEqual([50_000, 50_002])
  expect(body.charges[0]).toEqual({ model: 'acme/0', calls: 33_334, chargedMicro: (3 * 16_667 * 16_668) / 2 })
  expect([body.charges.length, body.tags.length, body.tagCount]).toEqual([3, 1_000, 50_001])
  const last = body.tags.slice(-2).map(({ tag }: { tag: string }) => tag)
  expect([body.tags[0].tag, ...last]).toEqual(['tag 49002', 'tag 50000', 'tag 50001'])
  for (const [query, param] of [
    ['month=2026-03', 'month'],
    ['from=2026-03-01&to=2026-03-03', 'from'],
  ] as const) {
    const refused = await stack.owner.get(`${path}?${query}&format=csv`)
    expect([outcomeOf(refused), refused.body.error.param]).toEqual(['400 invalid_request', param])
    expect(refused.body.error.message).toContain('results in more than 50000 lines')
    expect(refused.body.error.resolution).toMatch(/from and to.*format=json/)
  }
  const day = await csv(`${path}?from=2026-03-01&to=2026-03-02&format=csv`)
  expect(day.text.split(',charged,').length - 1).toBe(25_000)
})

test('lists fundings and corrections newest first, with user, time and reason, with no gap between pages', async ({
  stack,
  tenant: { operator },
  all,
}) => {
  const wallet = `${stack.projectPath}/wallet`
  for (const n of [1, 2]) await operator.post(`${wallet}/fundings`, { fundingId: `invoice.${n}`, micro: n })
  for (const [id, micro] of [
    ['invoice.1', -3],
    ['x'.repeat(128), 4],
  ] as const)
    await operator.post(`${wallet}/corrections`, { correctionId: id, micro, reason: `because ${micro}` })
  const records = await all('fundings')
  const at = expect.stringMatching(/Z$/) as string
  const of = (kind: string, id: string, micro: number, reason: string | null = null) => ({
    id,
    kind,
    micro,
    reason,
    user: operator.id,
    userName: 'A user',
    at,
  })
  expect(records).toEqual([
    of('correction', 'x'.repeat(128), 4, 'because 4'),
    of('correction', 'invoice.1', -3, 'because -3'),
    of('funding', 'invoice.2', 2),
    of('funding', 'invoice.1', 1),
    of('funding', 'first', 1_000_000),
  ])
  expect(await all('fundings', 1)).toEqual(records)
  const bad = await stack.owner.get(`${stack.projectPath}/fundings?cursor=1.invoice`)
  expect([outcomeOf(bad), bad.body.error.param]).toEqual(['400 invalid_request', 'cursor'])
})

test('lists the journal with no gap between pages, and its seals can be recomputed from its entries', async ({
  stack,
  tenant,
  calls,
  all,
  fixture,
}) => {
  const settled = await calls.admit(tenant.secret, tenant.model)
  await calls.settle(settled.id)
  await calls.release((await calls.admit(tenant.secret, tenant.model)).id)
  const entries = ((await all('journal')) as JournalEntry[]).map((entry) => journalEntry.parse(entry))
  expect(entries.map(({ seq, kind }) => [seq, kind])).toEqual([
    [5, 'release'],
    [4, 'reserve'],
    [3, 'settle'],
    [2, 'reserve'],
    [1, 'fund'],
  ])
  expect(entries[2]).toMatchObject({ reference: settled.id, available: 258, reserved: -308, settled: 50, outside: 0 })
  let seal = Buffer.alloc(0)
  let block: string[] = []
  for (const { seq, kind, reference, reserved, settled: micro, outside, seal: sealed } of entries.toReversed()) {
    block.push([seq, kind, reference, reserved, micro, -outside].join(' '))
    if (sealed === null) continue
    seal = createHash('sha256').update(seal).update(block.join('\n')).digest()
    expect(sealed).toBe(seal.toString('hex'))
    block = []
  }
  expect((await stack.owner.get(`${stack.projectPath}/statement`)).body.seal).toEqual({
    entry: 5,
    sha256: seal.toString('hex'),
  })
  await fixture.run(
    `INSERT INTO money.archived_wallets (project, month, seq, at, funded, reserved, settled, seal, windows)
     VALUES ($1, '2026-01-01', 2, now(), 0, 0, 0, '', '[]')`,
    [stack.project],
  )
  expect((await stack.owner.get(`${stack.projectPath}/journal`)).body.archivedUpTo).toBe(2)
})
