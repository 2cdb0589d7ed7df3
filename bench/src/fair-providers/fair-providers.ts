import { setTimeout as wait } from 'node:timers/promises'
import { type CallableTenant, type Fixture, openFixture } from '@gateway/testbed/fixture'
import { startServices, type ServiceStack } from '@gateway/testbed/service-stack'
import { Pool } from 'undici'
import type { BenchDeps } from '../bench.ts'
import { closedLoop } from '../load/closed-loop.ts'
import { figuresOf, median, type Figures } from '../load/figures.ts'
import { describeRun } from '../report/machine.ts'
import { ms, table, times } from '../report/table.ts'
import { formatTargets } from '../report/targets.ts'
import { openRevocations, repeatFor, revocationTarget } from '../edge/revocations.ts'
import { checkLoad } from '../soak/check-load.ts'
import { startBenchServers } from '../stack/bench-servers.ts'
import { openStops } from '../stack/stops.ts'
import { PLENTY } from '../stack/with-fixture.ts'

// One project has 1,500 slow calls at a provider, and calls again as soon as one is refused. A neighbour calls the same
// provider: before, and meanwhile.

const SLOW_CALLS = 1_500
const NEIGHBOURS = 4
const SLOW = 'a slow call'
const WANTED_TIMES = 2
const LONGEST_PAUSE_MS = 8_000
/** A gateway closes connections of one address that wait for their first request while a thousand others do. */
const APART_MS = 2

const variants: { name: string; settings: { connections?: number } }[] = [
  { name: 'as many connections as places', settings: {} },
  { name: '256 connections', settings: { connections: 256 } },
]

interface Round {
  quiet: Figures
  busy: Figures
  /** Slow calls that the provider had meanwhile. */
  sent: number
  revocationsMs: number[]
}

const now = () => performance.now()

export async function fairProviders({ options, stops, log }: BenchDeps): Promise<string> {
  log('Starting Postgres and Redis')
  const { postgres, redis } = await startBenchServers(stops)
  const { rounds, roundMs } = options
  const fixture = await openFixture(postgres.adminUrl)
  stops.add(fixture.close)
  const [busy, neighbour] = await twoTenants(fixture)
  const measured: { name: string; found: Round[] }[] = []
  let answered = 0
  for (const { name, settings } of variants) {
    const own = openStops()
    try {
      log(`Starting provider, ledger and gateway: ${name}`)
      const stack = await startServices({
        ledgerUrl: postgres.ledgerUrl,
        consoleUrl: postgres.consoleUrl,
        redisUrl: redis.url,
        providerSettings: settings,
        environment: { gateway: () => ({ LOG_LEVEL: 'warn' }) },
      })
      own.add(stack.stop)
      const slow = openCaller(stack, busy, SLOW, SLOW_CALLS)
      const quick = openCaller(stack, neighbour, 'a quick call', NEIGHBOURS)
      own.add(slow.close)
      own.add(quick.close)
      const measure = async (): Promise<Figures> =>
        figuresOf(await closedLoop({ clients: NEIGHBOURS, lastsMs: roundMs, call: quick.mustAnswer, now }))
      const revoke = await openRevocations(stack.gateways[0]!.url, fixture, neighbour)
      await Promise.all([measure(), revoke()])
      const found: Round[] = []
      for (let round = 1; round <= rounds; round++) {
        const quiet = await measure()
        const load = startSlowCalls(stack, slow.call)
        const sent = await load.settled()
        const [during, revocationsMs] = await Promise.all([measure(), repeatFor(roundMs, revoke)])
        await load.stop()
        found.push({ quiet, busy: during, sent, revocationsMs })
        log(
          `round ${round} of ${rounds}  quiet p99 ${ms(quiet.p99Ms)}; with ${sent} slow calls at the provider ${ms(during.p99Ms)}`,
        )
      }
      measured.push({ name, found })
      answered += slow.answered() + quick.answered()
    } finally {
      await own.run()
    }
  }
  log('Checking the books')
  await checkLoad({ ledgerUrl: postgres.ledgerUrl, answered, mayRelease: true })
  return report(measured, await describeRun(new Date()))
}

async function twoTenants(fixture: Fixture): Promise<[CallableTenant, CallableTenant]> {
  const model = await fixture.publishProduct({ id: 'bench/fair', promptPico: 1_000_000n, completionPico: 1_000_000n })
  const tenant = () => fixture.callableTenant({ funds: PLENTY, model })
  return [await tenant(), await tenant()]
}

/** Calls the gateway on behalf of one tenant. */
function openCaller(stack: ServiceStack, { key, model }: CallableTenant, content: string, connections: number) {
  const pool = new Pool(stack.gateways[0]!.url, { connections, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 })
  const body = JSON.stringify({ model, messages: [{ role: 'user', content }], max_tokens: 50 })
  let answered = 0

  async function call(): Promise<number> {
    const answer = await pool.request({
      method: 'POST',
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' },
      body,
    })
    await answer.body.dump()
    if (answer.statusCode === 200) answered++
    return answer.statusCode
  }

  return {
    call,
    async mustAnswer(): Promise<void> {
      const status = await call()
      if (status !== 200) throw new Error(`A call of the neighbour was answered with ${status}.`)
    },
    answered: () => answered,
    close: () => pool.destroy(),
  }
}

/** Callers that repeat a refused call with a growing pause, as stock clients do. The provider holds each call. */
function startSlowCalls({ provider: { control } }: ServiceStack, call: () => Promise<number>) {
  let going = true
  async function caller(n: number): Promise<void> {
    await wait(n * APART_MS)
    for (let pauseMs = 500; going; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      if ((await call()) === 200) return
      await wait(pauseMs * (0.5 + Math.random() / 2))
    }
  }
  const ready = control.clearCalls().then(() => control.setFaults([{ prompt: SLOW, hold: true }]))
  const callers = ready.then(() => Promise.all(Array.from({ length: SLOW_CALLS }, (_, n) => caller(n))))
  const sent = () => control.countCalls({ prompt: SLOW })

  return {
    /** Waits until every caller has called again and the provider got no more of them. Returns how many it has. */
    async settled(): Promise<number> {
      await ready
      for (let before = -1, count = await sent(); ; before = count, count = await sent()) {
        if (count === before && count > 0) return count
        await wait(LONGEST_PAUSE_MS + 1_000)
      }
    },
    /** Lets all calls end. */
    async stop(): Promise<void> {
      going = false
      await control.clearFaults()
      await control.release()
      await callers
    },
  }
}

function report(measured: { name: string; found: Round[] }[], run: string): string {
  const rows = measured.map(({ name, found }) => ({
    name,
    sent: median(found.map(({ sent }) => sent)),
    quiet: median(found.map(({ quiet }) => quiet.p99Ms)),
    busy: median(found.map(({ busy }) => busy.p99Ms)),
    ratio: median(found.map(({ quiet, busy }) => busy.p99Ms / quiet.p99Ms)), // within a round: others use the machine too
    revocationsMs: found.flatMap(({ revocationsMs }) => revocationsMs),
  }))
  return `${run}

${SLOW_CALLS.toLocaleString('en-US')} calls of one project that the provider does not answer, each repeated when it is refused; ${NEIGHBOURS} callers of another
project, each with one call after another to the same provider. No call of theirs was refused.

${table(
  ['', 'slow calls at the provider', 'p99 quiet', 'p99 busy', 'ratio'],
  rows.map(({ name, sent, quiet, busy, ratio }) => [name, String(sent), ms(quiet), ms(busy), times(ratio)]),
)}

${formatTargets(
  rows.flatMap(({ name, ratio, revocationsMs }) => [
    {
      what: `p99 of the neighbour against quiet, ${name}`,
      wanted: WANTED_TIMES,
      found: ratio,
      better: 'less' as const,
      say: times,
    },
    revocationTarget(name, revocationsMs),
  ]),
)}
`
}
