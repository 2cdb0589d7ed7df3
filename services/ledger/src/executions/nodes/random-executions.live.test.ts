import { describe, expect } from 'vitest'
import fc from 'fast-check'
import type { FlowPackage } from '@gateway/api/graph'
import { compileContract } from '@gateway/flow/contract'
import { validFlow, type ValidFlow } from '@gateway/flow/generators'
import { buildPackage } from '@gateway/flow/package'
import { planOf } from '@gateway/flow/plan'
import type { NodeJob } from '@gateway/node-queue/node-job'
import { findingsOf, openTenant, walletOf } from '../../fixtures/ledger-test.ts'
import { question } from '../../fixtures/engine.ts'
import { publishProduct } from '../../fixtures/sandbox-products.ts'
import { test } from '../../fixtures/ledger-test.ts'
import {
  chanceOf,
  deliver,
  expectedExecution,
  type Chance,
  type Mischief,
  type Process,
  MEDIA_PICO,
} from '../../fixtures/simulated-worker.ts'

// Random valid graphs through the real batcher on real Postgres, on two replicas. Every job is delivered twice, in any
// order.

const SEED = Number(process.env['FLOW_SEED'] ?? 20_261_120)
const EXECUTIONS = 60
const MAX_CONCURRENT = 8

interface Row {
  name: string
  mischief: Mischief
  /** Percentage of enqueued jobs that the queue loses. */
  lost: number
  /** Percentage of jobs before which one of the executions is canceled. */
  stops?: number
  funds: bigint
}

const rows: Row[] = [
  { name: 'well', mischief: { dies: 0, givesBack: 0, fails: 0 }, lost: 0, funds: 1_000_000n },
  {
    name: 'while workers die and give nodes back, and the queue loses jobs',
    mischief: { dies: 5, givesBack: 10, fails: 0 },
    lost: 5,
    funds: 1_000_000n,
  },
  {
    name: 'while anything can fail',
    mischief: { dies: 5, givesBack: 5, fails: 5 },
    lost: 2,
    funds: 1_000_000n,
  },
  {
    name: 'while executions are canceled at any moment and workers die',
    mischief: { dies: 5, givesBack: 5, fails: 0 },
    lost: 2,
    stops: 10,
    funds: 1_000_000n,
  },
  { name: 'until the wallet is empty', mischief: { dies: 2, givesBack: 2, fails: 0 }, lost: 0, funds: 800n },
]

describe('random graphs', () => {
  rows.forEach(({ name, mischief, lost, stops = 0, funds }, row) => {
    // spec: 2.4/s1, 8.3/s3, can/one-job
    test(`run ${name}: every execution ends, every node is charged at most once, and the books add up`, async ({
      fixture,
      engine,
      twin,
      replica,
      other,
    }) => {
      const seed = SEED + row
      const chance = chanceOf(seed)
      const tenant = await openTenant(fixture, funds)
      const { image, audio } = {
        image: await fixture.product({ kind: 'image', requestPico: MEDIA_PICO }),
        audio: await fixture.product({ kind: 'audio', requestPico: MEDIA_PICO }),
      }
      await fixture.assign(tenant.project.id, image, audio)
      const flows = fc.sample(validFlow({ products: { chat: [tenant.product], image: [image], audio: [audio] } }), {
        seed,
        numRuns: EXECUTIONS,
      })
      const executions = new Map<string, ValidFlow>()
      for (const flow of flows) {
        const sandbox = await publishProduct(fixture, tenant.project.id, tenant.owners.owner, { graph: flow.graph })
        const asked = question(tenant.key, sandbox, { input: flow.input })
        const answer = await (chance() < 0.5 ? engine : twin).start(asked)
        if ('refused' in answer) expect(answer).toEqual({ refused: { code: 'insufficient_budget' } })
        executions.set(asked.id, flow)
      }

      try {
        const { lateMicro } = await driveToTheEnd({
          slots: [
            { engine, money: replica },
            { engine: twin, money: other },
          ],
          chance,
          mischief,
          lost,
          stops,
          executions: [...executions.keys()],
        })
        for (const [id, flow] of executions)
          await checkExecution(id, flow, mischief.fails === 0 && mischief.dies < 5 && funds > 1_000n)
        const { rows: cancelled } = await fixture.run(
          `SELECT FROM money.executions WHERE project = $1 AND status = 'Cancelled'`,
          [tenant.project.id],
        )
        expect(cancelled.length > 0).toBe(stops > 0)
        expect(await findingsOf(replica, tenant.project.id)).toEqual([])
        const writtenOff = await fixture.run(
          `SELECT coalesce(sum(w.micro), 0)::int AS micro
             FROM money.write_offs w JOIN money.attempts a ON a.id = w.reservation WHERE a.project = $1`,
          [tenant.project.id],
        )
        expect(writtenOff.rows).toEqual([{ micro: lateMicro }])
        const open = await fixture.run('SELECT id FROM money.reservations WHERE project = $1', [tenant.project.id])
        expect((await walletOf(replica, tenant.project.id)).settled).toBeGreaterThan(0n)
        expect(open.rows).toEqual([])
        expect([...engine.quarantined, ...twin.quarantined, ...replica.quarantined, ...other.quarantined]).toEqual([])
      } catch (error) {
        throw new Error(`with FLOW_SEED=${SEED}`, { cause: error })
      }

      async function checkExecution(id: string, { graph, input }: ValidFlow, nothingFails: boolean): Promise<void> {
        const record = await engine.record(id)
        expect(['Succeeded', 'Failed', 'Cancelled']).toContain(record.status)
        const settled = await fixture.run(
          `SELECT node, count(*)::int AS times, sum(charged_micro)::int AS micro FROM money.attempts WHERE execution = $1 AND state = 'Settled' GROUP BY node`,
          [id],
        )
        const charges = settled.rows as { node: string; times: number; micro: number }[]
        expect(record.chargedMicro).toBe(charges.reduce((sum, { micro }) => sum + micro, 0))
        for (const { node, times, micro } of charges) {
          expect(times).toBe(1)
          expect(record.nodes.find((one) => one.id === node)).toMatchObject({
            status: 'Succeeded',
            chargedMicro: micro,
          })
        }
        const lines = (await twin.follow({ execution: id, after: -1 })).lines
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as { kind: string; seq: number })
        expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, n) => n))
        expect(lines.map(({ kind }) => kind)).toEqual(['admitted', ...lines.slice(2).map(() => 'node'), 'complete'])

        const built = JSON.parse(buildPackage(graph).text) as FlowPackage // as stored
        const plan = planOf(built)
        const checked = compileContract(built.input).check(input)
        const values = checked.ok ? checked.values : {}
        const expected = expectedExecution(plan, values, built.output)
        if (nothingFails && expected !== null) expect(record.status).toBe('Succeeded')
        if (record.status !== 'Succeeded') return expect(record.error).not.toBeNull()
        const came = record.nodes.map(({ status, output, chargedMicro }) => ({
          status,
          output: output && JSON.stringify(output),
          chargedMicro,
        }))
        expect(came).toEqual(expected)
      }
    })
  })
})

interface Drive {
  slots: Parameters<typeof deliver>[1]['slots']
  chance: Chance
  mischief: Mischief
  lost: number
  stops: number
  executions: string[]
}

/**
 * Delivers every job twice, in any order, several concurrently, and runs the maintenance jobs, until every execution
 * has ended. Returns the cost of the calls whose answers arrived too late, in micro-USD.
 */
async function driveToTheEnd({
  slots,
  chance,
  mischief,
  lost,
  stops,
  executions,
}: Drive): Promise<{ lateMicro: number }> {
  const engines = slots.map(({ engine }) => engine)
  const waiting: NodeJob[] = []
  const zombies: (() => Promise<string>)[] = []
  let lateMicro = 0
  let process = await newProcess()

  async function newProcess(): Promise<Process> {
    return { instance: await engines[0]!.newInstance(), alive: true, ready: new Map() }
  }
  function take(): NodeJob | undefined {
    for (const { jobs } of engines) for (const job of jobs.splice(0)) if (chance() * 100 >= lost) waiting.push(job, job)
    return waiting.splice(Math.floor(chance() * waiting.length), 1)[0]
  }
  async function stopOne(): Promise<void> {
    const any = <T>(of: readonly T[]): T => of[Math.floor(chance() * of.length)]!
    await any(engines).cancel({ execution: any(executions) })
  }
  async function work(): Promise<void> {
    for (let job = take(); job; job = take()) {
      if (chance() * 100 < stops) await stopOne()
      const mine = process
      const ending = await deliver(job, { slots, process: mine, chance, mischief })
      if (!ending.died) continue
      zombies.push(ending.lateWords, ending.lateWords)
      lateMicro += ending.costMicro
      if (mine.alive) {
        mine.alive = false
        process = await newProcess()
        await engines[0]!.endInstance(mine.instance)
      }
    }
  }

  for (let idle = 0; idle < 200;) {
    await Promise.all(Array.from({ length: MAX_CONCURRENT }, work))
    const keeping = engines[Math.floor(chance() * engines.length)]!
    await keeping.reclaim()
    await keeping.requeueLostJobs()
    // A worker that was declared dead completes after its node was reclaimed.
    for (const speak of zombies.splice(0)) expect(await speak()).toBe('fenced')
    const { records } = {
      records: await Promise.all(executions.map((execution) => keeping.record(execution).catch(() => null))),
    }
    if (records.every((record) => record === null || record.completedAt !== null)) return { lateMicro }
    idle = engines.some(({ jobs }) => jobs.length > 0) ? 0 : idle + 1
  }
  throw new Error('some runs do not end')
}
