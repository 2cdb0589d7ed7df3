import { isDeepStrictEqual } from 'node:util'
import { withLogin } from '@gateway/database/client'
import { ask } from '@gateway/testbed/ask'
import { keepLog } from '@gateway/testbed/postgres-backup'
import { privatePostgres, privateRedis } from '@gateway/testbed/private-servers'
import { expect, test } from 'vitest'
import { runUntilOver } from './src/executions.ts'
import { paidFlow } from './src/paid-flows.ts'
import { chat, openLiveStack, type Stack, type TenantFixture } from './src/stack.ts'

// A restore to a point in time, as docs/operating.md says: a base backup under load, the log since then, calls that
// come after the point and are lost with it, a new Redis, and services that start on what is left.

const CALLERS = 8
const HELD = 4

test('restored to a point in time, the books are those of that moment, and what was open then ends', async ({
  onTestFinished,
}) => {
  const [postgres, redis] = [await privatePostgres(), await privateRedis()]
  onTestFinished(redis.stop)
  onTestFinished(postgres.stop)
  const log = await keepLog(postgres)
  const before = await openLiveStack({ ...postgres, redisUrl: redis.url, workers: 1 })
  let isBeforeOpen = true
  const closeBefore = async () => {
    if (isBeforeOpen) await before.close()
    isBeforeOpen = false
  }
  onTestFinished(closeBefore)
  const tenant = await before.tenant(100_000_000n)
  const { id: sandbox } = await before.fixture.sandbox(tenant.project, paidFlow(tenant.model, 3))
  const execution = {
    sandbox,
    secret: tenant.key.secret,
    input: { text: 'open at the point' },
    idempotencyKey: 'execution',
  }

  const load = startCallers(before, tenant)
  await load.answered(50)
  const backup = await log.takeBackup()
  onTestFinished(backup.remove)
  await load.answered(50)
  await load.stop()
  const early = await answerTo(before, tenant, 'Known at the point.', 'before-the-point')

  // Open at the point: calls, and an execution whose third call is not answered yet.
  await before.provider.control.setFaults([
    { prompt: 'Held', hold: true },
    { prompt: 'call2', hold: true },
  ])
  const held = Array.from({ length: HELD }, (_, n) => answerTo(before, tenant, `Held ${n}.`))
  await before.provider.control.waitForCalls(HELD, { prompt: 'Held' })
  const running = runUntilOver(before, execution)
  await before.provider.control.waitForCalls(1, { prompt: 'call2' })
  const present = () => booksOf(postgres.adminUrl, tenant)
  await expect.poll(async () => (await present()).open.length).toBe(HELD + 1)
  let [atPoint, point] = [await present(), 0]
  for (let isStill = false; !isStill;) {
    await backup.mark(`point ${++point}`)
    const now = await present()
    isStill = isDeepStrictEqual(now, atPoint)
    atPoint = now
  }

  // After the point: answered, charged, and about to be lost.
  await before.provider.control.clearFaults()
  await before.provider.control.release()
  expect((await Promise.all(held)).map(({ status }) => status)).toEqual(held.map(() => 200))
  expect(await running).toMatchObject({ status: 'Succeeded' })
  await answerTo(before, tenant, 'Lost with the time.', 'after-the-point')
  await closeBefore()
  await postgres.kill()

  const restored = await backup.restore(`point ${point}`)
  onTestFinished(restored.stop)
  const as = (url: string) => {
    const { username, password } = new URL(url)
    return withLogin(restored.url, username, password)
  }
  const urls = { adminUrl: restored.url, ledgerUrl: as(postgres.ledgerUrl), consoleUrl: as(postgres.consoleUrl) }
  const restoredBooks = await booksOf(urls.adminUrl, tenant)
  expect(onlyIn(restoredBooks, atPoint)).toEqual([])
  expect(onlyIn(atPoint, restoredBooks)).toEqual([])

  const emptyRedis = await privateRedis()
  onTestFinished(emptyRedis.stop)
  const after = await openLiveStack({ ...urls, redisUrl: emptyRedis.url, workers: 1 })
  onTestFinished(after.close)
  await after.untilNothingIsReserved(tenant.project.id, 60_000)
  expect(await after.findings()).toEqual([])

  // The open execution continues by itself, without the calls that were paid before. The held calls cost nothing: no one
  // waits for them.
  const ended = await runUntilOver(after, execution)
  expect(ended).toMatchObject({ status: 'Succeeded' })
  const prompts = (await after.provider.control.calls()).map(({ prompt }) => prompt.split(' ')[0])
  expect(prompts).toEqual(['call2'])
  const paidBefore = atPoint.attempts
    .map(({ row }) => row as { execution: string | null; charged_micro: number })
    .filter(({ execution }) => execution !== null)
    .reduce((sum, { charged_micro }) => sum + charged_micro, 0)
  expect(paidBefore).toBeGreaterThan(0)

  // An answer of before is given again; one of after is not known, so its call is made and charged again.
  const provider = after.provider.control
  const calls = await provider.countCalls()
  expect(await answerTo(after, tenant, 'Known at the point.', 'before-the-point')).toEqual(early)
  expect(await provider.countCalls()).toBe(calls)
  const again = await answerTo(after, tenant, 'Lost with the time.', 'after-the-point')
  expect([again.status, await provider.countCalls()]).toEqual([200, calls + 1])

  await after.untilNothingIsReserved(tenant.project.id, 30_000)
  const { settled } = await after.wallet(tenant.project.id)
  expect(settled - BigInt(String(atPoint.wallet?.['settled']))).toBe(
    BigInt(ended.chargedMicro - paidBefore + again.costMicro),
  )
  expect(await after.findings()).toEqual([])
  console.info(
    `restored ${atPoint.journal.length} journal entries; ${HELD} answers given after the point are not charged`,
  )
}, 300_000)

/** Everything that the books say of a project, as text. */
async function booksOf(url: string, { project: { id } }: TenantFixture) {
  const rows = (sql: string) => ask(url, sql, [id])
  const [wallet] = await rows('SELECT to_jsonb(w) AS wallet FROM money.wallets w WHERE project = $1')
  return {
    wallet: wallet?.['wallet'] as Record<string, unknown> | undefined,
    open: await rows('SELECT to_jsonb(r) AS row FROM money.reservations r WHERE project = $1 ORDER BY 1'),
    attempts: await rows('SELECT to_jsonb(a) AS row FROM money.attempts a WHERE project = $1 ORDER BY 1'),
    journal: await rows('SELECT to_jsonb(j) AS row FROM money.journal j WHERE project = $1 ORDER BY j.seq'),
    answers: await rows('SELECT to_jsonb(k) AS row FROM money.idempotency_keys k WHERE project = $1 ORDER BY 1'),
  }
}

type Books = Awaited<ReturnType<typeof booksOf>>

/** Rows of some books that are not in others. */
function onlyIn({ wallet, ...tables }: Books, others: Books): string[] {
  const found = Object.entries(tables).flatMap(([name, rows]) => {
    const known = new Set(others[name as keyof typeof tables].map((row) => JSON.stringify(row)))
    return rows.map((row) => JSON.stringify(row)).flatMap((row) => (known.has(row) ? [] : [`${name} ${row}`]))
  })
  return isDeepStrictEqual(wallet, others.wallet) ? found : [`wallet ${JSON.stringify(wallet)}`, ...found]
}

async function answerTo(stack: Stack, tenant: TenantFixture, prompt: string, key?: string) {
  const body = { messages: [{ role: 'user', content: prompt }] }
  const answer = await chat(stack, tenant, { body, ...(key && { headers: { 'idempotency-key': key } }) })
  const text = await answer.text()
  return { status: answer.status, text, costMicro: Number(/"cost_micro":(\d+)/.exec(text)?.[1]) }
}

function startCallers(stack: Stack, tenant: TenantFixture) {
  let isOver = false
  let answers = 0
  const callers = Array.from({ length: CALLERS }, async () => {
    while (!isOver) {
      expect((await answerTo(stack, tenant, 'Say something short.')).status).toBe(200)
      answers++
    }
  })
  return {
    async answered(more: number): Promise<void> {
      for (const until = answers + more; answers < until;) await new Promise((resolve) => setTimeout(resolve, 20))
    },
    async stop(): Promise<void> {
      isOver = true
      await Promise.all(callers)
    },
  }
}
