import path from 'node:path'
import { startServices, type ServiceStack } from '@gateway/testbed/service-stack'
import { Pool } from 'undici'
import type { BenchDeps } from '../bench.ts'
import { startBenchServers } from '../stack/bench-servers.ts'
import { processorTimeMs } from '../stack/processor-time.ts'
import { openStops, type Stops } from '../stack/stops.ts'
import { closedLoop } from '../load/closed-loop.ts'
import { figuresOf, type Figures } from '../load/figures.ts'
import { inTurns } from '../load/rounds.ts'
import { describeRun } from '../report/machine.ts'
import { startDbos } from './dbos.ts'
import { buildFlowTenant, buildPaidTenant, type FlowTenant } from './linear-flow.ts'
import { measureLineDelay } from './line-delay.ts'
import { reportFlow, type Names, type Work } from './report-flow.ts'

// A linear free flow through separate worker processes: processor time per node, duration of an execution alone and
// with few in parallel, throughput of nodes with many, compared with a library that stores its steps in the same
// Postgres, and what saturates when workers are added.

const NODES = 10
/** Two lengths, from which the fixed cost of an execution follows. */
const SHORT = 3
const LONG = 30
const LONE = 1
const FEW = 8
const MANY = 64
const WORKERS = [1, 2, 3]
const COMPARED = 2
/** Default CONCURRENCY of a worker. One project fills the workers only if MAX_CONCURRENT_NODES is their sum (docs/growing.md). */
const NODES_OF_A_WORKER = 32
const SLICE_MS = 200
/** A paid flow: its duration beyond that of its calls. */
const PAID = { calls: 8, callMs: 200 }
/**
 * A stack serves many clients first, until its code is compiled: it is new in each round, while the processes of DBOS
 * serve all rounds.
 */
const WARM_UP_MS = { many: 10_000, own: 2_000 }
const peersFolder = path.resolve(import.meta.dirname, '../../.peers')
const now = () => performance.now()

const names: Names = {
  dbos: (processes) => `DBOS, ${processes} process${processes === 1 ? '' : 'es'}, ${MANY} at once (steps)`,
  runs: (workers, clients) => `${workers} worker${workers === 1 ? '' : 's'}, ${clients} at once (nodes)`,
  ofLength: (nodes) => `${COMPARED} workers, ${MANY} at once, executions of ${nodes} nodes`,
  sliced: () => `${COMPARED} workers, ${MANY} at once, slices of ${SLICE_MS} ms (nodes)`,
  lines: (clients) => `lines of progress, ${clients} at once`,
  paid: (clients) => `${PAID.calls} paid calls of ${PAID.callMs} ms in a row, ${clients} at once`,
}

export async function flow({ options: { rounds, roundMs }, stops, log }: BenchDeps): Promise<string> {
  log('Starting Postgres, Redis, and DBOS')
  const { folder, postgres, redis } = await startBenchServers(stops)
  const tenant = await buildFlowTenant(postgres.adminUrl, NODES)
  const [short, long] = [
    await buildFlowTenant(postgres.adminUrl, SHORT),
    await buildFlowTenant(postgres.adminUrl, LONG),
  ]
  const paid = await buildPaidTenant(postgres.adminUrl, PAID.calls)
  const databaseUrl = new URL(postgres.adminUrl)
  databaseUrl.pathname = '/dbos'
  const dbos = await startDbos(COMPARED, { databaseUrl: databaseUrl.href, folder, peersFolder, stops, log })
  const work = new Map<string, Work[]>()
  const noteWork = (name: string, one: Work) => work.set(name, [...(work.get(name) ?? []), one])

  /** Steps per second of this many processes that share the load. */
  async function dbosSteps(processes: number, lastsMs = roundMs): Promise<Figures> {
    const load = { workflows: Math.ceil(lastsMs / 40), concurrency: MANY / processes, steps: tenant.jobs }
    const used = dbos.slice(0, processes)
    const pids = { postgres: [postgres.pid], workers: used.map(({ pid }) => pid) }
    const [before, startMs] = [timesOf(pids), now()]
    await Promise.all(used.map((process) => process.run(load)))
    const tookMs = now() - startMs
    noteWork(names.dbos(processes), workOf(before, timesOf(pids), tookMs, processes * load.workflows * tenant.jobs))
    const perSecond = (processes * load.workflows * tenant.jobs * 1000) / tookMs
    return { perSecond, p50Ms: (MANY * tenant.jobs * 1000) / perSecond, p99Ms: NaN }
  }

  const startStack = (workers: number, sliceMs = 0) =>
    startServices({
      ledgerUrl: postgres.ledgerUrl,
      redisUrl: redis.url,
      workers,
      environment: {
        ledger: () => ({ MAX_CONCURRENT_NODES: String(NODES_OF_A_WORKER * workers) }),
        worker: () => ({ NODE_SLICE_MS: String(sliceMs) }),
      },
    })

  /** A separate stack per measurement, so that no worker of another one remains. */
  async function measureRuns(
    name: string,
    workers: number,
    clients: number,
    of: FlowTenant,
    { callMs = 0, sliceMs = 0 } = {},
  ): Promise<Figures> {
    const own = openStops()
    try {
      const stack = await startStack(workers, sliceMs)
      own.add(stack.stop)
      await stack.provider.control.setFaults([{ latencyMs: callMs }])
      const call = runner(stack, of, own)
      const pids = {
        gateway: stack.gateways.map(({ pid }) => pid),
        ledger: stack.ledgers.map(({ pid }) => pid),
        workers: stack.workers.map(({ pid }) => pid),
        postgres: [postgres.pid],
        redis: [redis.pid],
      }
      await closedLoop({ clients: MANY, lastsMs: WARM_UP_MS.many, call, now })
      await closedLoop({ clients, lastsMs: WARM_UP_MS.own, call, now })
      const before = timesOf(pids)
      const sample = await closedLoop({ clients, lastsMs: roundMs, call, now })
      noteWork(name, workOf(before, timesOf(pids), sample.tookMs, sample.calls * of.jobs))
      const figures = figuresOf(sample)
      return { ...figures, perSecond: figures.perSecond * of.jobs }
    } finally {
      await own.run()
    }
  }

  /** From the end of a node to its line at the caller. */
  async function measureLines(clients: number): Promise<Figures> {
    const own = openStops()
    try {
      const stack = await startStack(COMPARED)
      own.add(stack.stop)
      const following = { gatewayUrl: stack.gateways[0]!.url, adminUrl: postgres.adminUrl, tenant, clients }
      await closedLoop({ clients: MANY, lastsMs: WARM_UP_MS.many, call: runner(stack, tenant, own), now })
      await measureLineDelay({ ...following, lastsMs: WARM_UP_MS.own })
      return await measureLineDelay({ ...following, lastsMs: roundMs })
    } finally {
      await own.run()
    }
  }

  const runs = (workers: number, clients: number) => {
    const name = names.runs(workers, clients)
    return { name, measure: () => measureRuns(name, workers, clients, tenant) }
  }
  const ofLength = (nodes: number, of: FlowTenant) => {
    const name = names.ofLength(nodes)
    return { name, measure: () => measureRuns(name, COMPARED, MANY, of) }
  }
  const lineRuns = (clients: number) => ({ name: names.lines(clients), measure: () => measureLines(clients) })
  const paidRuns = (clients: number) => {
    const name = names.paid(clients)
    return { name, measure: () => measureRuns(name, COMPARED, clients, paid, { callMs: PAID.callMs }) }
  }
  const dbosRuns = (processes: number) => ({
    name: names.dbos(processes),
    warmUp: () => dbosSteps(processes, WARM_UP_MS.many).finally(() => work.delete(names.dbos(processes))),
    measure: () => dbosSteps(processes),
  })
  const measured = await inTurns({
    rounds,
    log,
    variants: [
      // What is compared is measured one right after the other: the machine changes its speed within minutes.
      dbosRuns(1),
      runs(1, MANY),
      dbosRuns(COMPARED),
      runs(COMPARED, MANY),
      {
        name: names.sliced(),
        measure: () => measureRuns(names.sliced(), COMPARED, MANY, tenant, { sliceMs: SLICE_MS }),
      },
      ...WORKERS.filter((workers) => workers > COMPARED).map((workers) => runs(workers, MANY)),
      runs(COMPARED, LONE),
      ...WORKERS.map((workers) => runs(workers, FEW)),
      ofLength(SHORT, short),
      ofLength(LONG, long),
      lineRuns(LONE),
      lineRuns(FEW),
      paidRuns(LONE),
      paidRuns(FEW),
    ],
  })

  return reportFlow({
    measured,
    names,
    workers: WORKERS,
    compared: COMPARED,
    setting: { nodes: NODES, jobs: tenant.jobs, lone: LONE, few: FEW, many: MANY },
    lengths: [
      { nodes: SHORT, jobs: short.jobs },
      { nodes: LONG, jobs: long.jobs },
    ],
    paid: PAID,
    work,
    run: await describeRun(new Date()),
  })
}

let runs = 0

/** One execution, from its request to its record. */
function runner(stack: ServiceStack, tenant: FlowTenant, stops: Stops): () => Promise<void> {
  const pool = new Pool(stack.gateways[0]!.url, { connections: MANY, pipelining: 1 })
  stops.add(() => pool.destroy())
  return async () => {
    const { statusCode, body } = await pool.request({
      method: 'POST',
      path: `/v1/sandbox/${tenant.sandbox}/invoke`,
      headers: {
        authorization: `Bearer ${tenant.secret}`,
        'content-type': 'application/json',
        accept: 'application/json',
        'idempotency-key': `bench-${process.pid}-${++runs}`,
      },
      body: '{"input":{"text":"Rivers"}}',
    })
    const record = (await body.json()) as { status?: string }
    if (statusCode !== 200 || record.status !== 'Succeeded')
      throw new Error(`An execution ended with ${statusCode}: ${JSON.stringify(record)}`)
  }
}

type Part = keyof Work['perNodeMs']
type Times = Partial<Record<Part, number>>

function timesOf(pids: Partial<Record<Part, number[]>>): Times {
  const sum = (all: number[]) => all.reduce((total, pid) => total + (processorTimeMs(pid) ?? NaN), 0)
  const { user, system } = process.cpuUsage() // the load: this process, without its child processes
  return {
    ...Object.fromEntries(Object.entries(pids).map(([part, all]) => [part, sum(all)])),
    load: (user + system) / 1_000,
  }
}

function workOf(before: Times, after: Times, tookMs: number, nodes: number): Work {
  const parts = Object.keys(after) as Part[]
  const each = (per: number) => Object.fromEntries(parts.map((part) => [part, (after[part]! - before[part]!) / per]))
  return { perNodeMs: each(nodes), cores: each(tookMs) }
}
