import { describe, expect } from 'vitest'
import fc from 'fast-check'
import type { FlowPackage } from '@gateway/contracts/graph'
import { compileContract } from '@gateway/flow/contract'
import { validFlow, type ValidFlow } from '@gateway/flow/generators'
import { buildPackage } from '@gateway/flow/package'
import { planOf } from '@gateway/flow/plan'
import type { NodeJob } from '@gateway/node-queue/node-job'
import { findingsOf, openShop, walletOf } from '../shop.fixture.ts'
import { question, saveSandbox } from './engine.fixture.ts'
import { test } from './flow-shop.fixture.ts'
import { chanceOf, deliver, expectedRun, type Chance, type Mischief, type Process } from './simulated-worker.fixture.ts'

// Random valid graphs through the real lane on real Postgres, on two replicas, every job delivered twice and in any order.

const SEED = Number(process.env['FLOW_SEED'] ?? 20_261_120)
const RUNS = 60
const AT_ONCE = 8

interface Row {
  name: string
  mischief: Mischief
  /** Of a hundred jobs that were enqueued, how many the queue loses. */
  lost: number
  funds: bigint
}

const rows: Row[] = [
  { name: 'well', mischief: { dies: 0, givesBack: 0, fails: 0 }, lost: 0, funds: 1_000_000n },
  {
    name: 'while workers die and give back, and the queue forgets',
    mischief: { dies: 5, givesBack: 10, fails: 0 },
    lost: 5,
    funds: 1_000_000n,
  },
  {
    name: 'while everything fails now and then',
    mischief: { dies: 5, givesBack: 5, fails: 5 },
    lost: 2,
    funds: 1_000_000n,
  },
  { name: 'until the money is gone', mischief: { dies: 2, givesBack: 2, fails: 0 }, lost: 0, funds: 800n },
]

describe('random graphs', () => {
  rows.forEach(({ name, mischief, lost, funds }, row) => {
    test(`run ${name}: each ends, each node once, and the books agree`, async ({
      world,
      engine,
      twin,
      replica,
      other,
    }) => {
      const seed = SEED + row
      const chance = chanceOf(seed)
      const shop = await openShop(world, funds)
      const { image, audio } = {
        image: await world.product({ kind: 'image', promptPico: 0n, completionPico: 1_000_000n }),
        audio: await world.product({ kind: 'audio', promptPico: 0n, completionPico: 1_000_000n }),
      }
      await world.assign(shop.project.id, image, audio)
      const flows = fc.sample(validFlow({ products: { chat: [shop.product], image: [image], audio: [audio] } }), {
        seed,
        numRuns: RUNS,
      })
      const runs = new Map<string, ValidFlow>()
      for (const flow of flows) {
        const sandbox = await saveSandbox(world, shop.project.id, shop.owners.owner, { graph: flow.graph })
        const asked = question(shop.key, sandbox, { input: flow.input })
        const answer = await (chance() < 0.5 ? engine : twin).start(asked)
        if ('refused' in answer) expect(answer).toEqual({ refused: { code: 'insufficient_budget' } })
        runs.set(asked.id, flow)
      }

      try {
        await driveToTheEnd({
          places: [
            { engine, money: replica },
            { engine: twin, money: other },
          ],
          chance,
          mischief,
          lost,
          runs: [...runs.keys()],
        })
        for (const [id, flow] of runs)
          await checkRun(id, flow, mischief.fails === 0 && mischief.dies < 5 && funds > 1_000n)
        expect(await findingsOf(replica, shop.project.id)).toEqual([])
        const open = await world.run('SELECT id FROM money.reservations WHERE project = $1', [shop.project.id])
        expect((await walletOf(replica, shop.project.id)).settled).toBeGreaterThan(0n)
        expect(open.rows).toEqual([])
        expect([...engine.setAside, ...twin.setAside, ...replica.setAside, ...other.setAside]).toEqual([])
      } catch (error) {
        throw new Error(`with FLOW_SEED=${SEED}`, { cause: error })
      }

      async function checkRun(id: string, { graph, input }: ValidFlow, nothingFails: boolean): Promise<void> {
        const record = await engine.record(id)
        expect(['Succeeded', 'Failed']).toContain(record.status)
        const settled = await world.run(
          `SELECT node, count(*)::int AS times, sum(charged_micro)::int AS micro FROM money.invocations WHERE execution = $1 AND state = 'Settled' GROUP BY node`,
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

        const built = JSON.parse(buildPackage(graph).text) as FlowPackage // as it is stored
        const plan = planOf(built)
        const checked = compileContract(built.input).check(input)
        const values = checked.ok ? checked.values : {}
        const expected = expectedRun(plan, values, built.output)
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
  places: Parameters<typeof deliver>[1]['places']
  chance: Chance
  mischief: Mischief
  lost: number
  runs: string[]
}

/** Delivers every job twice, in any order, several at once, and lets the keepers work, until every run has ended. */
async function driveToTheEnd({ places, chance, mischief, lost, runs }: Drive): Promise<void> {
  const engines = places.map(({ engine }) => engine)
  const waiting: NodeJob[] = []
  const zombies: (() => Promise<string>)[] = []
  let process = await newProcess()

  async function newProcess(): Promise<Process> {
    return { holder: await engines[0]!.newHolder(), alive: true }
  }
  function take(): NodeJob | undefined {
    for (const { jobs } of engines) for (const job of jobs.splice(0)) if (chance() * 100 >= lost) waiting.push(job, job)
    return waiting.splice(Math.floor(chance() * waiting.length), 1)[0]
  }
  async function work(): Promise<void> {
    for (let job = take(); job; job = take()) {
      const mine = process
      const ending = await deliver(job, { places, process: mine, chance, mischief })
      if (!ending.died) continue
      zombies.push(ending.lateWords)
      if (mine.alive) {
        mine.alive = false
        process = await newProcess()
        await engines[0]!.endHolder(mine.holder)
      }
    }
  }

  for (let idle = 0; idle < 200;) {
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    const keeping = engines[Math.floor(chance() * engines.length)]!
    await keeping.reclaim()
    await keeping.ringAgain()
    // Who was taken for dead speaks after its node was taken back.
    for (const speak of zombies.splice(0)) expect(await speak()).toBe('fenced')
    const { records } = { records: await Promise.all(runs.map((run) => keeping.record(run).catch(() => null))) }
    if (records.every((record) => record === null || record.completedAt !== null)) return
    idle = engines.some(({ jobs }) => jobs.length > 0) ? 0 : idle + 1
  }
  throw new Error('some runs do not end')
}
