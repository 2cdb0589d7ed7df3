import { expect } from 'vitest'
import { openDatabase } from '@gateway/database/client'
import { openLedgerClient } from '@gateway/ledger-client/ledger-client'
import type { ExecutionRecord, ProgressLine } from '@gateway/api/execution'
import { outcomeOf } from '../console.fixture.ts'
import { asking } from '../sandboxes/graphs.fixture.ts'
import { followExecution, openFollowerLooks } from './follow-execution.ts'
import { executionTest as test, input } from './executions.fixture.ts'

const linesOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as ProgressLine)

test('a user can follow an execution started by a key, from any line', async ({ flow, stack, services, fixture }) => {
  const { id } = await flow.made(asking(flow.product))
  const { control } = services.provider
  await control.clearCalls()
  await control.setFaults([{ hold: true }])
  const key = await fixture.key({
    project: { id: stack.project, tenant: stack.tenant, team: stack.team },
    by: stack.owner.id,
  })
  const { url } = services.gateways[0]!
  const invoked = fetch(`${url}/v1/sandbox/${id}/invoke`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key.secret}`, Accept: 'application/json', 'Idempotency-Key': 'followed-1' },
    body: JSON.stringify({ input }),
  })
  await control.waitForCalls(1)
  const { rows } = await fixture.run('SELECT id FROM money.executions WHERE sandbox = $1', [id])
  const execution = (rows as [{ id: string }])[0].id
  const follow = (query: string) =>
    fetch(`${url}${stack.projectPath}/executions/${execution}/progress${query}`, {
      headers: { Authorization: `Bearer ${stack.owner.token}` },
    })
  const [all, behind] = [await follow(''), await follow('?after=1')] // the headers arrive before line 2 exists
  expect([all.status, all.headers.get('Content-Type')]).toEqual([200, 'application/x-ndjson'])
  await control.clearFaults()
  await control.release()
  const lines = linesOf(await all.text())
  expect(lines.map(({ kind, seq }) => [kind, seq])).toEqual([
    ['admitted', 0],
    ['node', 1],
    ['node', 2],
    ['node', 3],
    ['complete', 4],
  ])
  expect(linesOf(await behind.text())).toEqual(lines.slice(2))
  expect(lines.at(-1)).toMatchObject({ execution: (await (await invoked).json()) as ExecutionRecord })
})

test('sends no further progress to a user whose grant is removed [execution_not_found]', async ({
  flow,
  stack,
  services,
  fixture,
}) => {
  const { path } = await flow.made(asking(flow.product))
  const user = await fixture.issuer({ id: stack.project, tenant: stack.tenant, team: stack.team })
  const { secret } = await fixture.token(user)
  const { control } = services.provider
  await control.clearCalls()
  await control.setFaults([{ hold: true }])
  const executed = stack.owner.post(`${path}/execute`, { input })
  await control.waitForCalls(1)
  const { rows } = await fixture.run('SELECT id FROM money.executions WHERE project = $1 AND completed_at IS NULL', [
    stack.project,
  ])
  const { id } = (rows as [{ id: string }])[0]
  const answer = await fetch(`${services.gateways[0]!.url}${stack.projectPath}/executions/${id}/progress`, {
    headers: { Authorization: `Bearer ${secret}` },
  })
  const text = answer.text()
  await fixture.run('DELETE FROM control.project_grants WHERE user_id = $1', [user])
  await control.clearFaults()
  await control.release()
  expect(linesOf(await text).at(-1)).toMatchObject({ kind: 'refused', error: { code: 'execution_not_found' } })
  expect((await executed).body).toMatchObject({ id, status: 'Succeeded' })
})

/** An execution that waits for its model until `release`. */
const heldTest = test.extend('held', async ({ flow, stack, services, fixture }) => {
  const { path } = await flow.made(asking(flow.product))
  const { control } = services.provider
  await control.clearCalls()
  await control.setFaults([{ hold: true }])
  const executed = stack.owner.post(`${path}/execute`, { input })
  await control.waitForCalls(1)
  const { rows } = await fixture.run('SELECT id FROM money.executions WHERE project = $1 AND completed_at IS NULL', [
    stack.project,
  ])
  const { id } = (rows as [{ id: string }])[0]
  return {
    id,
    path,
    executed,
    async release() {
      await control.clearFaults()
      await control.release()
    },
  }
})

heldTest(
  'admits eight of 500 followers of one user, and refuses neither a neighbor nor a revocation [overloaded]',
  async ({ stack, held, fixture, services }) => {
    const consumer = await stack.member({ project: 'Project Consumer' })
    const neighbor = await stack.member({ project: 'Project Consumer' })
    const { url } = services.gateways[0]!
    const progress = `${stack.projectPath}/executions/${held.id}/progress`
    const clients = new AbortController()
    const follow = ({ token }: { token: string }) =>
      fetch(url + progress, { headers: { Authorization: `Bearer ${token}` }, signal: clients.signal })
    expect(outcomeOf(await consumer.get('/api/v2/me'))).toBe('200')
    const answers = await Promise.all(Array.from({ length: 500 }, () => follow(consumer)))
    const admitted = answers.filter(({ status }) => status === 200)
    expect([admitted.length, answers.filter(({ status }) => status === 503).length]).toEqual([8, 492])
    const refused = await consumer.get(progress)
    expect(refused.body.error).toMatchObject({
      code: 'overloaded',
      resolution: expect.stringContaining('close the request that follows it') as string,
    })
    expect(outcomeOf(await consumer.post(`${held.path}/execute`, { input }))).toBe('503 overloaded')
    expect(outcomeOf(await consumer.get(`${stack.projectPath}/executions/${held.id}`))).toBe('200')

    const { tenant, team, project: id } = stack
    const key = await fixture.key({ project: { id, tenant, team }, by: stack.owner.id })
    for (const caller of [neighbor, stack.owner]) {
      expect(outcomeOf(await caller.get(`${stack.projectPath}/wallet`))).toBe('200')
      expect((await follow(caller)).status).toBe(200)
    }
    expect(outcomeOf(await stack.owner.post(`${stack.path}/keys/${key.id}/revoke`))).toBe('200')
    clients.abort()
    await expect.poll(async () => outcomeOf(await consumer.get(`${progress}?after=x`))).toBe('400 invalid_request')
    await held.release()
    expect((await held.executed).body).toMatchObject({ id: held.id, status: 'Succeeded' })
  },
)

heldTest(
  'shares the polls of 500 followers of one execution, of its lines and of their rights',
  async ({ stack, held, services, database, onTestFinished }) => {
    const { url } = services.ledgers[0]!
    const ledger = openLedgerClient({ url, service: 'console', privateKey: services.secrets.console })
    onTestFinished(() => ledger.close())
    const { prisma, close } = await openDatabase({ url: database.consoleUrl, poolSize: 2 })
    onTestFinished(close)
    const counts = { lines: 0, rights: 0 }
    const counted = prisma.$extends({
      query: {
        userToken: {
          findUnique({ args, query }) {
            counts.rights++
            return query(args)
          },
        },
      },
    }) as unknown as typeof prisma
    const now = () => new Date()
    const followerLooks = openFollowerLooks({
      prisma: counted,
      now,
      sessionLimits: { idleMs: 60_000, maxMs: 60_000 },
      ledger: {
        followExecution(question) {
          counts.lines++
          return ledger.followExecution(question)
        },
      },
    })
    const reader = { secret: stack.owner.token, isBearer: true, tenant: stack.tenant, project: stack.project }
    const authorize = async () => void (await followerLooks.mayUseSandboxes(reader))
    const followed = { project: stack.project, execution: held.id, after: -1 }
    async function follow() {
      let text = ''
      const { signal } = new AbortController()
      for await (const lines of followExecution({ followerLooks, now }, followed, authorize, signal)) text += lines
      return linesOf(text).map(({ kind }) => kind)
    }
    const following = Array.from({ length: 500 }, follow)
    await expect.poll(() => counts.lines).toBeGreaterThanOrEqual(3)
    await held.release()
    for (const kinds of await Promise.all(following)) expect([kinds[0], kinds.at(-1)]).toEqual(['admitted', 'complete'])
    // Each of them looked at least three times.
    expect(counts.lines).toBeLessThan(100)
    expect(counts.rights).toBeLessThan(100)
    await held.executed
  },
)
