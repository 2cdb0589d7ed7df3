import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect } from 'vitest'
import type { KeyStatus } from '@gateway/api/key-status'
import { liveTest } from '@gateway/testbed/live-test'
import type { TestProgram } from '@gateway/testbed/test-program'
import { answerOf, callerAt, refusalIn, said } from './src/caller.ts'
import { chat, openStack } from './src/stack.ts'

// Only the database's clock decides about windows, expiry, grace and reservations. Here the clocks of one gateway and its
// ledger are a day and an hour fast, those of the other two as much slow, and the console's is fast: no one is asked what time
// it is. Anyone who calls a ledger proves who they are by a token that says when it was signed, and for that the clocks of both
// may be minutes apart: one gateway is ahead of its ledger by nine minutes, the other one behind it by as much.

const SKEW_MS = 25 * 3_600_000
const APART_MS = 9 * 60_000
const A_YEAR_MS = 365 * 86_400_000

const skewed = (ms: number) => {
  const module = pathToFileURL(path.join(import.meta.dirname, 'src/skewed-clock.ts'))
  return { NODE_OPTIONS: `--import ${module.href}?ms=${ms}` }
}
/** Of gateways, and the console; the ledgers are apart from them. */
const ofCaller = (n: number) => skewed(n % 2 === 0 ? SKEW_MS : -SKEW_MS)
const ofLedger = (n: number) => skewed(n % 2 === 0 ? SKEW_MS - APART_MS : APART_MS - SKEW_MS)

const test = liveTest.extend('stack', { scope: 'file' }, async ({ database, redis }, { onCleanup }) => {
  const stack = await openStack({
    adminUrl: database.adminUrl,
    ledgerUrl: database.ledgerUrl,
    consoleUrl: database.consoleUrl,
    redisUrl: redis.url,
    ledgers: 2,
    gateways: 2,
    environment: { ledger: ofLedger, gateway: ofCaller, console: ofCaller },
  })
  onCleanup(stack.close)
  return stack
})

describe('clocks that are wrong by a day', () => {
  test('are really wrong, as their logs show', async ({ stack }) => {
    const began = Date.now()
    const aheadMs = async ({ logFile }: TestProgram) => {
      const [first = ''] = (await readFile(logFile, 'utf8')).split('\n')
      return Date.parse((JSON.parse(first) as { time: string }).time) - began
    }
    const hoursOff = async (program: TestProgram) => Math.round((await aheadMs(program)) / 3_600_000)
    expect(await Promise.all(stack.gateways.map(hoursOff))).toEqual([25, -25])
    expect(await Promise.all(stack.ledgers.map(hoursOff))).toEqual([25, -25])
    expect(await hoursOff(stack.console!)).toBe(25)
    const apartMs = async (n: number) => (await aheadMs(stack.gateways[n]!)) - (await aheadMs(stack.ledgers[n]!))
    expect(await apartMs(0)).toBeGreaterThan(8 * 60_000)
    expect(await apartMs(1)).toBeLessThan(-8 * 60_000)
  })

  test('are reported by the ledger whose callers they are', async ({ stack }) => {
    const tenant = await stack.tenant(1_000_000n)
    for (const gateway of [0, 1]) {
      expect(said(await answerOf(await chat(stack, tenant, { gateway })))).toBe('200')
      const log = await readFile(stack.ledgers[gateway]!.logFile, 'utf8')
      // One that is behind may be so by the age of its token less; from a gateway that lives there comes a fresh one each time.
      const lines = log
        .split('\n')
        .filter((line) => line.includes('the clocks of the gateway and of the ledger differ'))
      expect(lines.length).toBeGreaterThan(0)
      const { apartS } = JSON.parse(lines[0]!) as { apartS: number }
      if (gateway === 0) expect(apartS).toBeGreaterThan(8 * 60)
      else expect(apartS).toBeLessThan(-4 * 60)
    }
  })

  test('move no window: both sides fill one and the same, and name its right end [key_limit]', async ({ stack }) => {
    const fit = 20
    const tenant = await stack.tenant(1_000_000n, { limit: { micro: BigInt(fit), reset: 'daily' } })
    const model = await stack.fixture.publishProduct({ requestPico: 1_000_000n })
    await stack.fixture.assign(tenant.project.id, model)
    const answers = []
    for (let n = 0; n < fit + 2; n++)
      answers.push(await answerOf(await chat(stack, { ...tenant, model }, { gateway: n })))
    expect(answers.map(said)).toEqual([...Array(fit).fill('200'), '403 key_limit', '403 key_limit'])
    const { rows } = await stack.fixture.run(
      `SELECT to_char(date_trunc('day', clock_timestamp() AT TIME ZONE 'UTC') + interval '1 day', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS end`,
    )
    const [{ end }] = rows as [{ end: string }]
    expect(answers.slice(fit).map((answer) => refusalIn(answer)?.details?.['resetsAt'])).toEqual([end, end])
    for (const { url } of stack.gateways) {
      const { body } = await callerAt(url, tenant.key.secret).ask('GET', '/v1/key')
      expect(body as KeyStatus).toMatchObject({ spentMicro: fit, remainingMicro: 0, resetsAt: end })
    }
    expect(await stack.findings([tenant.project.id])).toEqual([])
  })

  // spec: 5/s8, can/expiry
  test('neither expire a key early nor keep one alive [key_expired]', async ({ stack }) => {
    const tenant = await stack.tenant(1_000_000n)
    const { fixture } = stack
    const key = (expiresInMs: number) => fixture.key({ project: tenant.project, by: tenant.owner, expiresInMs })
    const [living, expired] = [await key(600_000), await key(-600_000)]
    for (const gateway of [0, 1]) {
      const call = async (one: typeof living) =>
        said(await answerOf(await chat(stack, { ...tenant, key: one }, { gateway })))
      expect([await call(living), await call(expired)]).toEqual(['200', '401 key_expired'])
    }
  })

  test('give a key of the console its days, and its grace, from now on', async ({ stack }) => {
    const tenant = await stack.tenant(1_000_000n)
    const token = await stack.fixture.token(tenant.owner, { expiresInMs: A_YEAR_MS }) // who is signed in, the console's clock decides
    const owner = callerAt(stack.gateways[0]!.url, token.secret)
    const tenantId = `/api/v2/tenants/${tenant.project.tenant}`
    const made = await owner.ask('POST', `${tenantId}/keys`, { project: tenant.project.id, expiresInDays: 1 })
    expect(said(made)).toBe('201')
    const { key, secret } = made.body as { key: { id: string; expiresAt: string }; secret: string }
    expect(Math.round((Date.parse(key.expiresAt) - Date.now()) / 3_600_000)).toBe(24)
    const rotated = await owner.ask('POST', `${tenantId}/keys/${key.id}/rotate`, { graceSeconds: 600 })
    expect(said(rotated)).toBe('201')
    for (const gateway of [0, 1])
      for (const one of [secret, (rotated.body as { secret: string }).secret])
        expect(
          said(await answerOf(await chat(stack, { ...tenant, key: { ...tenant.key, secret: one } }, { gateway }))),
        ).toBe('200')
  })

  test('end no reservation: a call outlives several rounds of the maintenance jobs on both sides', async ({
    stack,
  }) => {
    const tenant = await stack.tenant(1_000_000n)
    const prompt = `Held ${tenant.project.id}`
    await stack.provider.control.setFaults([{ prompt, latencyMs: 6_000 }]) // maintenance jobs look every two seconds
    const messages = [{ role: 'user', content: prompt }]
    const answers = await Promise.all([0, 1].map((gateway) => chat(stack, tenant, { gateway, body: { messages } })))
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    await stack.provider.control.clearFaults()
    const calls = await stack.invocations(tenant.project.id)
    expect(calls.map(({ state }) => state)).toEqual(['Settled', 'Settled'])
    expect(await stack.findings([tenant.project.id])).toEqual([])
  })
})
