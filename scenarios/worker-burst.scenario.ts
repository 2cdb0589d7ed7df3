import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { liveTest } from '@gateway/testbed/live-test'
import { openBacklogFlow, startBacklog } from './src/backlog.ts'
import { openLiveStack, type Stack } from './src/stack.ts'

// A burst of executions, and workers that come and go as KEDA would have them by the triggers in
// deploy/kubernetes/components/keda/worker.yaml: waiting nodes for each worker, and the longest wait. Time is shorter: a
// poll takes one second instead of fifteen, and fewer workers are wanted for five polls before any goes.
//
// `BURST=2000 npm run test:full scenarios/worker-burst.scenario.ts` sends as many as you like.

const PROJECTS = 20
const EACH = Math.ceil(Number(process.env['BURST'] ?? 500) / PROJECTS)
const [LEAST, MOST] = [1, 8]
const CONCURRENCY = 4
const PROVIDER_MS = 400
const OLDEST_S = 10
const POLL_MS = 1_000
const STABLE_POLLS = 5

const test = liveTest.extend('stack', async ({ database, redisServer }, { onCleanup }) => {
  const stack = await openLiveStack({
    ...database,
    redisUrl: redisServer.url,
    workers: MOST,
    environment: { worker: () => ({ CONCURRENCY: String(CONCURRENCY) }) },
  })
  onCleanup(stack.close)
  return stack
})

test(`a burst of ${PROJECTS * EACH} executions scales workers from ${LEAST} to ${MOST} and back, and loses none`, async ({
  stack,
}) => {
  await stack.provider.control.setFaults([{ hold: true }]) // until there are as many workers as may be
  for (const worker of stack.workers.slice(LEAST)) await worker.stop()
  const flows = await Promise.all(Array.from({ length: PROJECTS }, () => openBacklogFlow(stack)))
  const projects = flows.map(({ project }) => project)
  const startAll = async () => {
    for (const flow of flows) await startBacklog(stack, flow, EACH)
  }
  const starting = startAll()

  const seen = await scaleUntilDrained(stack, projects)
  await starting
  expect(Math.max(...seen.map(({ workers }) => workers))).toBe(MOST)
  for (const { workers, seconds, ended } of seen)
    console.info(`${workers} workers: ${ended} executions in ${seconds.toFixed(1)} s`)

  const { rows } = await stack.fixture.run(
    `SELECT status, count(*)::int AS count FROM money.executions WHERE project = ANY($1) GROUP BY status`,
    [projects],
  )
  expect(rows).toEqual([{ status: 'Succeeded', count: PROJECTS * EACH }])
  for (const project of projects) {
    await stack.untilNothingIsReserved(project, 30_000)
    const charges = (await stack.invocations(project)).filter(({ state }) => state === 'Settled')
    expect(new Set(charges.map(({ execution }) => execution)).size).toBe(EACH)
    expect(charges).toHaveLength(EACH)
  }
  // A worker that is scaled in finishes its calls: none is made twice.
  expect(await stack.provider.control.countCalls()).toBe(PROJECTS * EACH)
  expect(await stack.findings(projects)).toEqual([])
}, 300_000)

interface Span {
  workers: number
  seconds: number
  ended: number
}

/** Acts as the autoscaler until nothing is open and the workers are back at their least number. */
async function scaleUntilDrained(stack: Stack, projects: string[]): Promise<Span[]> {
  const spans: Span[] = []
  let wantedLess = 0
  let isHeld = true
  let last = { at: performance.now(), ended: 0 }
  for (;;) {
    const running = stack.workers.filter(({ isRunning }) => isRunning)
    const { waiting, oldest } = await queueOf(running[0]!.metricsUrl)
    const ended = await endedExecutions(stack, projects)
    const at = performance.now()
    const span =
      spans.at(-1)?.workers === running.length ? spans.at(-1)! : { workers: running.length, seconds: 0, ended: 0 }
    if (span !== spans.at(-1)) spans.push(span)
    span.seconds += (at - last.at) / 1000
    span.ended += ended - last.ended
    last = { at, ended }
    if (isHeld && running.length === MOST) {
      isHeld = false
      await stack.provider.control.setFaults([{ latencyMs: PROVIDER_MS }])
      await stack.provider.control.release()
    }
    if (ended === PROJECTS * EACH && running.length === LEAST) return spans

    const wanted = Math.max(Math.ceil(waiting / CONCURRENCY), Math.ceil((running.length * oldest) / OLDEST_S), LEAST)
    wantedLess = wanted < running.length ? wantedLess + 1 : 0
    if (wanted > running.length) {
      const more = Math.min(wanted, running.length * 2, MOST) - running.length
      const idle = stack.workers.filter(({ isRunning }) => !isRunning)
      await Promise.all(idle.slice(0, more).map((worker) => worker.start()))
    } else if (wantedLess >= STABLE_POLLS) {
      const fewer = Math.min(2, running.length - wanted)
      await Promise.all(running.slice(-fewer).map((worker) => worker.stop()))
    }
    await delay(POLL_MS)
  }
}

/** Nodes that wait for a worker, and seconds that the oldest has waited, as every worker exports them. */
async function queueOf(metricsUrl: string): Promise<{ waiting: number; oldest: number }> {
  const metrics = await (await fetch(`${metricsUrl}/metrics`)).text()
  const value = (name: string) => Number(new RegExp(`^${name}(?:\\{[^}]*\\})? ([\\d.]+)`, 'm').exec(metrics)?.[1] ?? 0)
  return { waiting: value('worker_queue_waiting'), oldest: value('worker_queue_oldest') }
}

async function endedExecutions(stack: Stack, projects: string[]): Promise<number> {
  const { rows } = await stack.fixture.run(
    'SELECT count(*)::int AS ended FROM money.executions WHERE project = ANY($1) AND completed_at IS NOT NULL',
    [projects],
  )
  return (rows[0] as { ended: number }).ended
}
