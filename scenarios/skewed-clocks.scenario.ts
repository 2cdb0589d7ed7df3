import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect } from 'vitest'
import type { KeyStatus } from '@gateway/api/key-status'
import { liveTest } from '@gateway/testbed/live-test'
import type { TestProgram } from '@gateway/testbed/test-program'
import { answerOf, callerAt, refusalIn, said } from './src/caller.ts'
import { chat, openStack } from './src/stack.ts'

// Only the database's clock decides windows, expiry, grace and reservations. One gateway and its ledger run 25 hours fast, the other
// two 25 hours slow, and the console runs fast. Service tokens carry their signing time, so the clocks of a caller and its ledger may
// differ by a minute only: one gateway is 50 seconds ahead of its ledger, the other 50 seconds behind.

const SKEW_MS = 25 * 3_600_000
const APART_MS = 50_000
const A_YEAR_MS = 365 * 86_400_000

const skewed = (ms: number) => {
  const module = pathToFileURL(path.join(import.meta.dirname, 'src/skewed-clock.ts'))
  return { NODE_OPTIONS: `--import ${module.href}?ms=${ms}` }
}
/** Skew of the gateways and the console. The ledgers differ from it by APART_MS. */
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

describe('clocks that are off by 25 hours', () => {
  test('show in the logs of every service', async ({ stack }) => {
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
    expect(await apartMs(0)).toBeGreaterThan(40_000)
    expect(await apartMs(1)).toBeLessThan(-40_000)
  })

  test('are reported in the log of the called ledger', async ({ stack }) => {
    const tenant = await stack.tenant(1_000_000n)
    for (const gateway of [0, 1]) {
      expect(said(await answerOf(await chat(stack, tenant, { gateway })))).toBe('200')
      const log = await readFile(stack.ledgers[gateway]!.logFile, 'utf8')
      const lines = log.split('\n').filter((line) => line.includes('clocks of gateway and ledger differ'))
      expect(lines.length).toBeGreaterThan(0)
      const { apartS, ...line } = JSON.parse(lines[0]!) as { apartS: number }
      expect(line).toMatchObject({ service: 'ledger', caller: 'gateway' })
      if (gateway === 0) expect(apartS).toBeGreaterThan(40)
      else expect(apartS).toBeLessThan(-40)
    }
  })

  test('shift no spending window: both sides fill the same one and report its true end [key_limit]', async ({
    stack,
  }) => {
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
  test('neither expire a key early nor keep an expired one valid [key_expired]', async ({ stack }) => {
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

  test('shift neither the expiry nor the grace period of a new key', async ({ stack }) => {
    const tenant = await stack.tenant(1_000_000n)
    // The console checks token expiry by its own clock, which is fast.
    const token = await stack.fixture.token(tenant.owner, { expiresInMs: A_YEAR_MS })
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

  test('expire no reservation: a call survives several maintenance runs on both sides', async ({ stack }) => {
    const tenant = await stack.tenant(1_000_000n)
    const prompt = `Held ${tenant.project.id}`
    await stack.provider.control.setFaults([{ prompt, latencyMs: 6_000 }]) // maintenance jobs run every two seconds
    const messages = [{ role: 'user', content: prompt }]
    const answers = await Promise.all([0, 1].map((gateway) => chat(stack, tenant, { gateway, body: { messages } })))
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    await stack.provider.control.clearFaults()
    const calls = await stack.invocations(tenant.project.id)
    expect(calls.map(({ state }) => state)).toEqual(['Settled', 'Settled'])
    expect(await stack.findings([tenant.project.id])).toEqual([])
  })
})
