import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { ask } from '@gateway/testbed/ask'
import { privatePostgres, privateRedis } from '@gateway/testbed/private-servers'
import { expect, test } from 'vitest'
import { chat, openLiveStack, type Stack, type TenantFixture } from './src/stack.ts'

// kill -9 of Postgres between admission and settlement, over and over, under load and without. Admissions of these calls
// are not on disk when their provider is called (money §4.5), so each crash loses some. Every answered call must be
// charged what its response says.
//
// `CRASHES=200 npx vitest run --project full-alone scenarios/postgres-crashes.scenario.ts` runs as many as you like.

const CRASHES = Number(process.env['CRASHES'] ?? 4)
const [STEADY, HELD] = [12, 8]

test(
  `after ${CRASHES} crashes of Postgres every answered call is charged in full`,
  { timeout: 120_000 + CRASHES * 20_000 },
  async ({ onTestFinished }) => {
    const [postgres, redis] = [await privatePostgres({ fast: false }), await privateRedis()]
    onTestFinished(async () => {
      await redis.stop()
      await postgres.stop()
    })
    const stack = await openLiveStack({ ...postgres, redisUrl: redis.url, ledgers: 2, gateways: 2 })
    onTestFinished(stack.close)
    // Only commits that wait for the disk bring the log there.
    await ask(postgres.adminUrl, 'ALTER SYSTEM SET wal_writer_delay = 10000')
    await ask(postgres.adminUrl, 'SELECT pg_reload_conf()')
    const logPositions = async () => {
      const [row] = await ask(
        postgres.adminUrl,
        `SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS written, pg_current_wal_flush_lsn() - '0/0'::pg_lsn AS on_disk`,
      )
      return { written: Number(row?.['written']), onDisk: Number(row?.['on_disk']) }
    }
    const tenant = await stack.tenant(100_000_000_000n)
    await stack.provider.control.setFaults([{ prompt: 'Held', hold: true }, { latencyMs: 30 }])

    const answers: Answer[] = []
    const steady = startSteadyCallers(stack, tenant, answers)
    for (let crash = 0; crash < CRASHES; crash++) {
      const isUnderLoad = crash % 2 === 0
      if (!isUnderLoad) await steady.pause()
      const prompt = `Held ${crash}.`
      const held: Promise<Answer>[] = []
      for (;;) {
        const before = await logPositions()
        held.push(...Array.from({ length: HELD }, (_, n) => callOnce(stack, tenant, prompt, n)))
        await stack.provider.control.waitForCalls(held.length, { prompt })
        if (isUnderLoad || (await logPositions()).onDisk <= before.written) break // else other work brought them to the disk
      }
      await postgres.kill()
      await postgres.restart()
      await stack.provider.control.release()
      const heldAnswers = await Promise.all(held)
      expect(heldAnswers.map(({ status }) => status)).toEqual(heldAnswers.map(() => 200))
      answers.push(...heldAnswers)
      if (!isUnderLoad) steady.resume()
      await steady.answered(50)
    }
    await steady.pause()

    await stack.untilNothingIsReserved(tenant.project.id, 60_000)
    expect(await stack.findings()).toEqual([])
    const charged = new Map(
      (await stack.invocations(tenant.project.id))
        .filter(({ state }) => state === 'Settled')
        .map(({ invocation, chargedMicro }) => [invocation, Number(chargedMicro)]),
    )
    const answered = answers.filter(({ status }) => status === 200)
    expect(answered.filter(({ invocation, costMicro }) => charged.get(invocation) !== costMicro)).toEqual([])
    expect(await stack.fixture.run('SELECT * FROM money.write_offs')).toMatchObject({ rows: [] })
    const restored = stack.ledgers.flatMap(
      ({ logFile }) => readFileSync(logFile, 'utf8').match(/reservation restored/g) ?? [],
    )
    expect(restored.length).toBeGreaterThan(0)
    console.log(`${CRASHES} crashes: ${answered.length} answered calls charged, ${restored.length} of them restored`)
  },
)

interface Answer {
  status: number
  invocation: string
  costMicro: number
}

/** Calls without an idempotency key, every other one as a stream. */
async function callOnce(stack: Stack, tenant: TenantFixture, prompt: string, n: number): Promise<Answer> {
  const body = { messages: [{ role: 'user', content: prompt }], stream: n % 2 === 1 }
  try {
    const response = await chat(stack, tenant, { body, gateway: n, signal: AbortSignal.timeout(60_000) })
    const text = await response.text()
    const invocation = response.headers.get('x-service-invocation') ?? ''
    return { status: response.status, invocation, costMicro: Number(/"cost_micro":(\d+)/.exec(text)?.[1]) }
  } catch {
    return { status: 0, invocation: '', costMicro: 0 }
  }
}

function startSteadyCallers(stack: Stack, tenant: TenantFixture, answers: Answer[]) {
  let isPaused = false
  let running: Promise<void>[] = []
  async function callOn(n: number): Promise<void> {
    while (!isPaused) {
      const answer = await callOnce(stack, tenant, 'Say something short.', n)
      answers.push(answer)
      if (answer.status !== 200) await wait(20)
    }
  }
  const resume = () => {
    isPaused = false
    running = Array.from({ length: STEADY }, (_, n) => callOn(n))
  }
  resume()
  return {
    resume,
    /** Resolves once every call has ended. */
    async pause() {
      isPaused = true
      await Promise.all(running)
    },
    /** Resolves once this many more calls were answered. */
    async answered(count: number) {
      const ok = () => answers.filter(({ status }) => status === 200).length
      const wanted = ok() + count
      while (ok() < wanted) await wait(10)
    },
  }
}
