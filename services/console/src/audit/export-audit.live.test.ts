import fc from 'fast-check'
import { expect } from 'vitest'
import type { AuditLine } from '@gateway/api/console/audit'
import { openDatabase } from '@gateway/database/client'
import { consoleTest, outcomeOf, type Caller } from '../console.fixture.ts'
import { recordChange } from './record-change.ts'
import { sealAudit } from './seal-audit.ts'

/** An export seals one batch: what other tests have left comes first. */
const test = consoleTest.extend('sealed', { auto: true }, async ({ database }) => {
  const { prisma, close } = await openDatabase({ url: database.consoleUrl, poolSize: 1, role: 'test' })
  while ((await sealAudit({ prisma })) > 0);
  await close()
})

async function linesOf(url: string, caller: Caller, path: string): Promise<AuditLine[]> {
  const answer = await fetch(url + path, { headers: { Authorization: `Bearer ${caller.token}` } })
  expect([answer.status, answer.headers.get('Content-Type')]).toEqual([200, 'application/x-ndjson'])
  const text = await answer.text()
  return text === ''
    ? []
    : text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as AuditLine)
}

test('the export continues behind the last line, and the same position gives the same lines again', async ({
  console,
  stack,
}) => {
  const read = (after: string, limit = 100) =>
    linesOf(console.url, stack.owner, `${stack.path}/audit/export?after=${after}&limit=${limit}`)
  const { body: flow } = await stack.owner.post(`${stack.projectPath}/sandboxes`, { name: 'A' })
  for (const name of ['B', 'C']) await stack.owner.post(`${stack.path}/teams`, { name })
  const first = await read('0', 2)
  const second = await read(first.at(-1)!.position)
  expect([...first, ...second].map(({ action }) => action)).toEqual([
    'sandbox.create',
    'team.create',
    'team.create',
    'audit.export',
  ])
  expect(first[0]!.subject).toBe(flow.id)
  expect(await read('0', 2)).toEqual(first)
  expect(await read(second.at(-1)!.position)).toEqual([])
  await stack.owner.patch(`${stack.path}/sandboxes/${flow.id}`, { name: 'Z' })
  expect(await read('0', 2)).toEqual(first)
  await stack.owner.post(`${stack.path}/teams`, { name: 'D' })
  const [renamed, next, ...more] = await read(second.at(-1)!.position)
  expect(renamed!.action).toBe('sandbox.change')
  expect([next!.action, next!.details['name'], next!.tenant, more]).toEqual(['team.create', 'D', stack.tenant, []])
})

test('a token with the permission audit.read exports, and one without it is refused [not_permitted]', async ({
  console,
  stack,
}) => {
  const tokenWith = async (permission: string) => {
    const { token, secret } = (await stack.owner.post(`${stack.path}/tokens`, { name: 't', permissions: [permission] }))
      .body
    return { id: token.id as string, token: secret as string }
  }
  const statusBy = async ({ token }: { token: string }) =>
    (await fetch(`${console.url}${stack.path}/audit/export`, { headers: { Authorization: `Bearer ${token}` } })).status
  expect([await statusBy(await tokenWith('audit.read')), await statusBy(await tokenWith('users.read'))]).toEqual([
    200, 403,
  ])
})

test('an operator exports the entries of all organizations, each once, and an Admin only theirs', async ({
  console,
  stack,
  fixture,
  signIn,
}) => {
  const { rows } = await fixture.run('SELECT coalesce(max(position), 0)::text AS last FROM control.audit')
  const [{ last }] = rows as [{ last: string }]
  const operator = await signIn({ platformOperator: true })
  const session = await signIn({ id: stack.owner.id, by: 'session' })
  const { body } = await session.post('/api/v2/me/tokens', { name: 't' })
  const other = await fixture.tenant()
  const stranger = await signIn({ id: other.owner })
  await stranger.post(`/api/v2/tenants/${other.tenant}/teams`, { name: 'Theirs' })
  const all = await linesOf(console.url, operator, `/api/v2/audit/export?after=${last}&limit=5000`)
  const ofToken = all.filter(({ subject }) => subject === body.token.id)
  expect(ofToken).toMatchObject([{ tenant: null, action: 'token.create' }])
  expect(all.some(({ tenant }) => tenant === other.tenant)).toBe(true)
  const own = await linesOf(console.url, stack.owner, `${stack.path}/audit/export`)
  expect(own).toMatchObject([
    { tenant: stack.tenant, action: 'token.create', subject: body.token.id },
    { action: 'audit.export' },
  ])
  expect(outcomeOf(await stack.owner.get('/api/v2/audit/export'))).toBe('403 not_permitted')
  expect(outcomeOf(await stack.owner.get('/api/v2/audit'))).toBe('403 not_permitted')
})

test('no entry is left out or out of order while writers commit late and some roll back', async ({
  console,
  database,
  fixture,
  signIn,
}) => {
  const { prisma, close } = await openDatabase({ url: database.consoleUrl, poolSize: 6, role: 'test' })
  /** Writes an entry in a transaction that stays open until it is ended. */
  async function openWriter(tenant: string, subject: string, rollsBack: boolean) {
    const [written, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const ended = prisma.$transaction(async (tx) => {
      await recordChange(tx, { tenant, user: null, action: 'asset.create', subject })
      written.resolve()
      await end.promise
      if (rollsBack) throw new Error('rolled back')
    })
    await written.promise
    return {
      async end() {
        end.resolve()
        if (rollsBack) await expect(ended).rejects.toThrow('rolled back')
        else await ended
      },
    }
  }
  const writer = fc.record({ endsAt: fc.nat(9), rollsBack: fc.boolean() })
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(writer, { minLength: 2, maxLength: 5 }), async (writers) => {
        const { tenant, owner } = await fixture.tenant()
        const reader = await signIn({ id: owner })
        const seen: AuditLine[] = []
        const poll = async () => {
          for (;;) {
            const after = seen.at(-1)?.position ?? '0'
            const path = `/api/v2/tenants/${tenant}/audit/export?after=${after}&limit=3`
            const lines = await linesOf(console.url, reader, path)
            if (lines.length === 0) return
            seen.push(...lines)
          }
        }
        const open = []
        for (const [n, each] of writers.entries())
          open.push({ ...each, subject: `w${n}`, ...(await openWriter(tenant, `w${n}`, each.rollsBack)) })
        for (const { end } of open.toSorted((one, other) => one.endsAt - other.endsAt)) {
          await end()
          await poll()
        }
        const positions = seen.map(({ position }) => Number(position))
        expect(positions).toEqual([...new Set(positions)].toSorted((one, other) => one - other))
        const found = seen.filter(({ action }) => action === 'asset.create').map(({ subject }) => subject)
        const committed = open.filter(({ rollsBack }) => !rollsBack).map(({ subject }) => subject)
        expect(found.toSorted(byText)).toEqual(committed.toSorted(byText))
      }),
      { numRuns: 15 },
    )
  } finally {
    await close()
  }
})

function byText(one: string, other: string): number {
  return one < other ? -1 : 1
}
