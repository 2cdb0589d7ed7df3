import { setTimeout as wait } from 'node:timers/promises'
import { startServices, type ServiceStack } from '@gateway/testbed/service-stack'
import { openFixture, type Fixture } from '@gateway/testbed/fixture'
import type { BenchDeps } from '../bench.ts'
import { startBenchServers } from '../stack/bench-servers.ts'
import { openStops } from '../stack/stops.ts'
import { percentile } from '../load/figures.ts'
import { PLENTY } from '../stack/with-fixture.ts'
import { describeRun } from '../report/machine.ts'
import { formatTargets } from '../report/targets.ts'

// Kills workers with -9 while they wait for a model, and measures for each node that one of them was running the time
// from the kill until another worker has claimed it. All clocks are those of one machine. The model call was chained to
// the template before it, so it has no job in the queue; without slices it has one.

const WORKERS = 3
const MAX_CONCURRENT_EXECUTIONS = 24
const MODEL_MS = 1_000
const WANTED_MS = 3_500
const SLICES_MS = [200, 0]

const TEXT = { type: 'object' as const, properties: { text: { type: 'string' } }, required: ['text'] }
const FLOW = {
  input: TEXT,
  output: TEXT,
  nodes: [
    { id: 'in', kind: 'input' },
    { id: 'prompt', kind: 'template', template: 'Tell me of {{ text }}' },
    { id: 'ask', kind: 'product.chat', product: 'bench/recovery', params: { max_tokens: 20 } },
    { id: 'out', kind: 'output' },
  ],
  edges: [
    { from: 'in.text', to: 'prompt.text' },
    { from: 'prompt.text', to: 'ask.prompt' },
    { from: 'ask.text', to: 'out.text' },
  ],
}

/** A node that a killed worker was running. */
interface Lost {
  execution: string
  ordinal: number
  attempt: number
  killedMs: number
}

export async function recovery({ options: { rounds }, stops, log }: BenchDeps): Promise<string> {
  log('Starting Postgres and Redis')
  const { postgres, redis } = await startBenchServers(stops)
  const fixture = await openFixture(postgres.adminUrl)
  stops.add(fixture.close)
  const tenant = await buildTenant(fixture)
  const found: { sliceMs: number; tookMs: Float64Array }[] = []
  for (const sliceMs of SLICES_MS) {
    const own = openStops()
    try {
      log(`Starting provider, ledger, gateway, and workers with slices of ${sliceMs} ms`)
      const stack = await startServices({
        ledgerUrl: postgres.ledgerUrl,
        redisUrl: redis.url,
        workers: WORKERS,
        environment: { worker: () => ({ NODE_SLICE_MS: String(sliceMs) }) },
      })
      own.add(stack.stop)
      await stack.provider.control.setFaults([{ latencyMs: MODEL_MS }])
      found.push({ sliceMs, tookMs: await killAgainAndAgain({ stack, fixture, tenant, rounds, log }) })
    } finally {
      await own.run()
    }
  }

  const say = (value: number) => `${value.toFixed(0)} ms`
  const reported = found.map(
    ({ sliceMs, tookMs }) =>
      `With slices of ${say(sliceMs)}: of ${tookMs.length} nodes that were under way, half were claimed again within ${say(percentile(tookMs, 50))}, the slowest after ${say(percentile(tookMs, 100))}.`,
  )
  return `${await describeRun(new Date())}

${WORKERS} workers with ${MAX_CONCURRENT_EXECUTIONS} executions at once of a flow whose model takes ${say(MODEL_MS)}; one of them is killed ${rounds} times. Every execution succeeded.

${reported.join('\n')}

${formatTargets(
  found.map(({ sliceMs, tookMs }) => ({
    what: `p99 from the kill to the next claim, slices of ${say(sliceMs)}`,
    wanted: WANTED_MS,
    found: percentile(tookMs, 99),
    better: 'less' as const,
    say,
  })),
)}
`
}

interface Kills extends Pick<BenchDeps, 'log'> {
  stack: ServiceStack
  fixture: Fixture
  tenant: { sandbox: string; secret: string }
  rounds: number
}

/** Recovery time of each lost node, in milliseconds, ascending. */
async function killAgainAndAgain({ stack, fixture, tenant, rounds, log }: Kills): Promise<Float64Array> {
  const load = startLoad(stack, tenant)
  const tookMs: number[] = []
  for (let round = 0; round < rounds; round++) {
    await wait(2 * MODEL_MS)
    const { lost, restarted } = await killOne(stack, fixture, round)
    const found = await claimedAgain(fixture, lost)
    tookMs.push(...found)
    await restarted
    log(
      `kill ${round + 1} of ${rounds}: ${lost.length} nodes, the last of them claimed again after ${Math.max(...found).toFixed(0)} ms`,
    )
  }
  const failed = await load.stop()
  if (failed > 0) throw new Error(`${failed} executions did not succeed.`)
  return Float64Array.from(tookMs).toSorted()
}

async function buildTenant(fixture: Fixture): Promise<{ sandbox: string; secret: string }> {
  const { project, key } = await fixture.callableTenant({ funds: PLENTY, product: { id: 'bench/recovery' } })
  const { id: sandbox } = await fixture.sandbox(project, FLOW)
  return { sandbox, secret: key.secret }
}

/** For the whole bench: a repeated key would return the earlier response. */
let runs = 0

function startLoad(stack: ServiceStack, { sandbox, secret }: { sandbox: string; secret: string }) {
  let going = true
  let failed = 0
  const callers = Array.from({ length: MAX_CONCURRENT_EXECUTIONS }, async () => {
    while (going) {
      const answer = await fetch(`${stack.gateways[0]!.url}/v1/sandbox/${sandbox}/invoke`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${secret}`,
          'content-type': 'application/json',
          accept: 'application/json',
          'idempotency-key': `recovery-${++runs}`,
        },
        body: '{"input":{"text":"Rivers"}}',
      })
      const { status } = (await answer.json()) as { status?: string }
      if (status !== 'Succeeded') failed++
    }
  })
  return {
    async stop() {
      going = false
      await Promise.all(callers)
      return failed
    },
  }
}

/**
 * Kills a worker and starts it again without waiting. Returns what it was running: the nodes of the silent instance.
 */
async function killOne(
  stack: ServiceStack,
  fixture: Fixture,
  round: number,
): Promise<{ lost: Lost[]; restarted: Promise<void> }> {
  const worker = stack.workers[round % WORKERS]!
  await worker.kill()
  const killedMs = Date.now()
  const { rows } = await fixture.run(
    `SELECT execution, ordinal, attempt, instance FROM money.execution_nodes WHERE state = 'Running'`,
  )
  const restarted = worker.start()
  const running = rows as (Omit<Lost, 'killedMs'> & { instance: string })[]
  for (;;) {
    const { rows: ended } = await fixture.run(
      `SELECT id FROM money.instances WHERE service = 'worker' AND ended_at > to_timestamp($1 / 1000.0)`,
      [killedMs],
    )
    const instance = (ended as { id: string }[])[0]?.id
    const lost = running.filter((node) => node.instance === instance).map((node) => ({ ...node, killedMs }))
    if (instance) return { lost, restarted }
    await wait(50)
  }
}

/** Time of each until it was claimed again, in milliseconds. */
async function claimedAgain(fixture: Fixture, lost: Lost[]): Promise<number[]> {
  const tookMs: number[] = []
  for (const { execution, ordinal, attempt, killedMs } of lost) {
    for (;;) {
      const { rows } = await fixture.run(
        `SELECT extract(epoch FROM claimed_at)::float8 * 1000 AS at_ms FROM money.execution_nodes
          WHERE execution = $1 AND ordinal = $2 AND attempt > $3 AND claimed_at IS NOT NULL`,
        [execution, ordinal, attempt],
      )
      const [row] = rows as { at_ms: number }[]
      if (row) {
        tookMs.push(row.at_ms - killedMs)
        break
      }
      await wait(20)
    }
  }
  return tookMs
}
