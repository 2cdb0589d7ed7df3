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
import { buildFlowTenant, type FlowTenant } from './linear-flow.ts'
import { reportFlow, type Share } from './report-flow.ts'

// A linear free flow through separate worker processes: how long an execution takes with few at once, how many nodes go through with many,
// against a library that keeps its steps in the same Postgres, and what fills up when workers are added.

const NODES = 10
const FEW = 8
const MANY = 64
const WORKERS = [1, 2, 3]
const COMPARED = 2
const peersFolder = path.resolve(import.meta.dirname, '../../.peers')
const now = () => performance.now()

export async function flow({ options: { rounds, roundMs }, stops, tell }: BenchDeps): Promise<string> {
  tell('Starting Postgres, Redis, and DBOS')
  const { folder, postgres, redis } = await startBenchServers(stops)
  const tenant = await buildFlowTenant(postgres.adminUrl, NODES)
  const databaseUrl = new URL(postgres.adminUrl)
  databaseUrl.pathname = '/dbos'
  const dbos = await startDbos(COMPARED, { databaseUrl: databaseUrl.href, folder, peersFolder, stops, tell })

  /** Steps per second of both processes together, which share the load. */
  async function dbosSteps(): Promise<Figures> {
    const load = { workflows: Math.ceil(roundMs / 40), atOnce: MANY / COMPARED, steps: tenant.jobs }
    const startMs = now()
    await Promise.all(dbos.map((process) => process.run(load)))
    const tookMs = now() - startMs
    const perSecond = (COMPARED * load.workflows * tenant.jobs * 1000) / tookMs
    return { perSecond, p50Ms: (MANY * tenant.jobs * 1000) / perSecond, p99Ms: NaN }
  }

  const shares = new Map<number, Share[]>()
  const measured = await inTurns({
    rounds,
    tell,
    variants: [
      { name: `DBOS, ${COMPARED} processes, ${MANY} at once (steps)`, measure: dbosSteps },
      ...WORKERS.flatMap((workers) => [
        { name: few(workers), measure: () => measureRuns(workers, FEW) },
        { name: many(workers), measure: () => measureRuns(workers, MANY) },
      ]),
    ],
  })

  /** A stack of its own for each measurement, so that no worker is left of another. */
  async function measureRuns(workers: number, clients: number): Promise<Figures> {
    const own = openStops()
    try {
      const stack = await startServices({ ledgerUrl: postgres.ledgerUrl, redisUrl: redis.url, workers })
      own.add(stack.stop)
      const call = runner(stack, tenant, own)
      await closedLoop({ clients, lastsMs: Math.min(1_000, roundMs), call, now })
      const before = timesOf(stack, { postgres: postgres.pid, redis: redis.pid })
      const sample = await closedLoop({ clients, lastsMs: roundMs, call, now })
      if (clients === MANY) {
        const seen = shareOf(before, timesOf(stack, { postgres: postgres.pid, redis: redis.pid }), sample.tookMs)
        shares.set(workers, [...(shares.get(workers) ?? []), seen])
      }
      const figures = figuresOf(sample)
      return { ...figures, perSecond: figures.perSecond * tenant.jobs }
    } finally {
      await own.run()
    }
  }

  return reportFlow({
    measured,
    names: { dbos: `DBOS, ${COMPARED} processes, ${MANY} at once (steps)`, few, many },
    workers: WORKERS,
    compared: COMPARED,
    setting: { nodes: NODES, jobs: tenant.jobs, few: FEW, many: MANY },
    shares,
    run: await describeRun(new Date()),
  })
}

const few = (workers: number) => `${workers} workers, ${FEW} executions at once (nodes)`
const many = (workers: number) => `${workers} workers, ${MANY} executions at once (nodes)`

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

type Times = Record<keyof Share, number>

function timesOf(stack: ServiceStack, servers: { postgres: number; redis: number }): Times {
  const sum = (pids: number[]) => pids.reduce((all, pid) => all + (processorTimeMs(pid) ?? NaN), 0)
  return {
    postgres: sum([servers.postgres]),
    redis: sum([servers.redis]),
    load: process.cpuUsage().user / 1_000 + process.cpuUsage().system / 1_000,
    ledger: sum(stack.ledgers.map(({ pid }) => pid)),
    workers: sum(stack.workers.map(({ pid }) => pid)),
    gateway: sum(stack.gateways.map(({ pid }) => pid)),
  }
}

/** Cores that each was using. */
function shareOf(before: Times, after: Times, tookMs: number): Share {
  const cores = (name: keyof Share) => (after[name] - before[name]) / tookMs
  return {
    postgres: cores('postgres'),
    ledger: cores('ledger'),
    workers: cores('workers'),
    gateway: cores('gateway'),
    redis: cores('redis'),
    load: cores('load'),
  }
}
