import fc from 'fast-check'
import { expect, inject } from 'vitest'
import type { EstimatedProduct } from '@gateway/api/estimate'
import { estimate } from '@gateway/flow/estimate'
import { validFlow, type ValidFlow } from '@gateway/flow/generators'
import { buildPackage } from '@gateway/flow/package'
import { planOf } from '@gateway/flow/plan'
import type { Fixture, KeyFixture } from '@gateway/testbed/fixture'
import { openEngine, question, type Engine } from '../../fixtures/engine.ts'
import { findingsOf, test } from '../../fixtures/ledger-test.ts'
import { chanceOf, type Chance } from '../../fixtures/simulated-worker.ts'
import { estimateSandbox, readPrices } from './estimate-sandbox.ts'
import { deliver, type Bench } from './priced-worker.fixture.ts'

// Random flows and inputs on two replicas, at random prices, with concurrent siblings, workers that die or give nodes
// back, and providers that report more usage than allowed: an execution is never charged more than its ceiling or its
// estimate.

const SEED = Number(process.env['FLOW_SEED'] ?? 20_261_123)
const EXECUTIONS = 10_000 * inject('propertyShare')
const PROJECTS = 5
const AT_A_TIME = 500
const WORKERS = 96
const MOST_MICRO = 9_000_000_000_000n

test(`${EXECUTIONS} random executions are charged at most their ceiling and their estimate, and a ceiling equal to the estimate is never reached [ceiling_reached]`, async ({
  database,
  fixture,
  replica,
  other,
}) => {
  const chance = chanceOf(SEED)
  const limits = { lateMs: 0, maxConcurrentNodes: 5_000, openExecutions: 100_000 }
  const engines = [await openEngine(database.ledgerUrl, limits), await openEngine(database.ledgerUrl, limits)]
  const slots = [
    { engine: engines[0]!, money: replica },
    { engine: engines[1]!, money: other },
  ]
  const seen = { refused: 0, charged: 0, atTheEstimate: 0 }
  try {
    for (let project = 0; project < PROJECTS; project++) {
      const tenant = await openProject(fixture, chance)
      const facts = await productsOf(replica, tenant.all)
      const products = new Map(facts.map((product) => [product.id, product]))
      for (let begun = 0; begun < EXECUTIONS / PROJECTS; begun += AT_A_TIME) {
        const bench: Bench = { slots, chance, products, lateWords: [] }
        const asked = await beginSome(bench, fixture, tenant, SEED + project * EXECUTIONS + begun)
        await driveToTheEnd(bench, fixture, tenant.project)
        await checkSome(fixture, asked, seen)
      }
      expect(await productsOf(replica, tenant.all)).toEqual(facts) // no factor was raised
      expect(await findingsOf(replica, tenant.project)).toEqual([])
    }
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(EXECUTIONS / 20)
    expect([...engines, replica, other].flatMap(({ quarantined }) => quarantined)).toEqual([])
  } catch (error) {
    throw new Error(`with FLOW_SEED=${SEED}`, { cause: error })
  } finally {
    for (const engine of engines) await engine.close()
  }
}, 900_000)

interface Project {
  project: string
  owner: string
  key: KeyFixture
  products: { chat: string[]; image: string[]; audio: string[] }
  all: string[]
}

/** Creates a project with products of each kind at random prices. */
async function openProject(fixture: Fixture, chance: Chance): Promise<Project> {
  const pico = (most: number) => BigInt(Math.floor(chance() * most))
  const owners = await fixture.tenant()
  const project = await fixture.project(owners, MOST_MICRO)
  const tokens = () => {
    const promptPico = pico(9_000_000)
    return {
      promptPico,
      cacheWritePico: chance() < 0.5 ? promptPico + pico(9_000_000) : null,
      completionPico: pico(9_000_000),
      perMessage: Math.floor(chance() * 20),
    }
  }
  const counted = await fixture.product({ ...tokens(), tokensPerByteMillionths: 300_000, maxTokensPerImage: 700 })
  const narrow = await fixture.product({
    ...tokens(),
    contextLength: 1_500,
    maxOutputTokens: 700,
    maxTokensPerImage: 90,
  })
  const raised = await fixture.product({ ...tokens(), tokensPerByteMillionths: 500_000, maxTokensPerImage: 11 })
  const blind = await fixture.product(tokens())
  const priced = await fixture.product({ requestPico: 1n + pico(80_000_000_000), maxTokensPerImage: 50 })
  const image = await fixture.product({ kind: 'image', requestPico: 1n + pico(80_000_000_000) })
  const audio = await fixture.product({ kind: 'audio', requestPico: 1n + pico(80_000_000_000) })
  await fixture.run(`UPDATE control.products SET tokenizer = 'o200k_base' WHERE id = $1`, [counted])
  await fixture.run('UPDATE control.products SET factor_millionths = 4000000 WHERE id = ANY ($1)', [[raised, narrow]])
  await fixture.run('UPDATE control.products SET factor_millionths = 1350000 WHERE id = $1', [blind])
  const products = { chat: [counted, narrow, raised, blind, priced], image: [image], audio: [audio] }
  const all = Object.values(products).flat()
  await fixture.assign(project.id, ...all)
  const key = await fixture.key({ project, by: owners.owner })
  return { project: project.id, owner: owners.owner, key, products, all }
}

interface Asked {
  id: string
  atMostMicro: number
  maxMicro: number | null
}

/** Publishes flows, estimates each, and starts it with or without a ceiling. */
async function beginSome({ slots, chance }: Bench, fixture: Fixture, tenant: Project, seed: number): Promise<Asked[]> {
  const flows = fc
    .sample(validFlow({ products: tenant.products, maxSteps: 9 }), { seed, numRuns: AT_A_TIME })
    .map((flow) => varied(flow, chance))
  const sandboxes = await publishAll(fixture, tenant, flows)
  const asked: Asked[] = []
  for (let from = 0; from < flows.length; from += 50)
    await Promise.all(flows.slice(from, from + 50).map((flow, n) => begin(flow, from + n)))
  return asked

  async function begin({ input }: ValidFlow, n: number): Promise<void> {
    const { engine } = slots[n % 2]!
    const start = question(tenant.key, sandboxes[n]!, { input })
    const facts = await estimateSandbox(engine, start)
    if ('refused' in facts) throw new Error(`an estimate is refused: ${facts.refused.code}`)
    const { atMostMicro } = atOnce(estimate(facts))
    const maxMicro = [null, 0, Math.floor(atMostMicro / 20), atMostMicro, 2 * atMostMicro + 1][n % 5]!
    const answer = await slots[(n + 1) % 2]!.engine.start({ ...start, maxMicro })
    if ('refused' in answer) throw new Error(`an execution is refused: ${answer.refused.code}`)
    asked.push({ id: start.id, atMostMicro, maxMicro })
  }
}

/** Adds output caps and longer texts than the generator writes. */
function varied({ graph, input, products }: ValidFlow, chance: Chance): ValidFlow {
  const nodes = graph.nodes.map((node) =>
    node.kind === 'product.chat' && chance() < 0.7
      ? { ...node, params: { max_tokens: 1 + Math.floor(chance() * 600) } }
      : node,
  )
  const topic = `${String(input['topic'])}${'"é '.repeat(Math.floor(chance() * chance() * 900))}`
  return { graph: { ...graph, nodes }, input: { ...input, topic }, products }
}

function atOnce<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** Publishes all flows in two statements, otherwise like publishProduct of sandbox-products.ts. */
async function publishAll(fixture: Fixture, { project, owner }: Project, flows: ValidFlow[]): Promise<string[]> {
  const built = flows.map(({ graph }) => ({ graph, ...buildPackage(graph) }))
  const ids = flows.map(() => fixture.id('sbx').replace('_', '-'))
  await fixture.run(
    `INSERT INTO control.sandboxes (id, project, name, description, created_by, latest_revision)
     SELECT id, $2, 'A flow', '', $3, 1 FROM unnest($1::text[]) id`,
    [ids, project, owner],
  )
  await fixture.run(
    `INSERT INTO control.revisions (sandbox, number, draft, graph, problems, digest, package, manifest, paid_nodes, created_by)
     SELECT id, 1, false, graph, '[]', digest, package, string_to_array(manifest, ' '), paid_nodes, $6
       FROM unnest($1::text[], $2::bytea[], $3::text[], $4::bytea[], $5::text[], $7::integer[])
         AS u (id, graph, digest, package, manifest, paid_nodes)`,
    [
      ids,
      built.map(({ graph }) => Buffer.from(JSON.stringify(graph))),
      built.map(({ digest }) => digest),
      built.map(({ text }) => Buffer.from(text)),
      built.map((each) => each.package.manifest.join(' ')),
      owner,
      built.map((each) => planOf(each.package).paidNodes),
    ],
  )
  await fixture.run('UPDATE control.sandboxes SET active_revision = 1, activated_at = now() WHERE id = ANY ($1)', [ids])
  return ids
}

/** Runs workers until every execution of the project has ended. */
async function driveToTheEnd(bench: Bench, fixture: Fixture, project: string): Promise<void> {
  const engines = bench.slots.map(({ engine }) => engine)
  let instance = await engines[0]!.newInstance()
  let busy = 0
  let ended = Promise.withResolvers<void>()
  const take = () => engines.flatMap(({ jobs }) => jobs.splice(0, 1))

  async function work(): Promise<void> {
    for (;;) {
      const jobs = take()
      if (jobs.length === 0 && busy === 0) return
      if (jobs.length === 0) await ended.promise
      for (const job of jobs) {
        busy++
        const mine = instance
        const outcome = await deliver(bench, job, mine)
        busy--
        ended.resolve()
        ended = Promise.withResolvers<void>()
        if (outcome === 'ended' || mine !== instance) continue
        instance = await engines[0]!.newInstance()
        await engines[1]!.endInstance(mine)
      }
    }
  }

  for (let rounds = 0; rounds < 100; rounds++) {
    await Promise.all(Array.from({ length: WORKERS }, work))
    await takeBack(bench, engines)
    const { rows } = await fixture.run(
      'SELECT count(*)::int AS open FROM money.executions WHERE project = $1 AND completed_at IS NULL',
      [project],
    )
    if ((rows as [{ open: number }])[0].open === 0) return
  }
  throw new Error('some executions do not end')
}

/** Reclaims nodes of dead workers. Their late responses are fenced and not charged. */
async function takeBack({ lateWords }: Bench, engines: Engine[]): Promise<void> {
  await engines[0]!.reclaim()
  for (const speak of lateWords.splice(0)) expect(await speak()).toMatchObject({ kind: 'fenced' })
  await engines[1]!.requeueLostJobs()
}

async function checkSome(
  fixture: Fixture,
  asked: Asked[],
  seen: { refused: number; charged: number; atTheEstimate: number },
): Promise<void> {
  const { rows } = await fixture.run(
    `SELECT e.id, e.max_micro::float8 AS ceiling, convert_from(e.error, 'UTF8')::json ->> 'code' AS code,
            coalesce((SELECT sum(v.charged_micro) FROM money.attempts v WHERE v.execution = e.id), 0)::float8 AS charged
       FROM money.executions e WHERE e.id = ANY ($1) AND e.completed_at IS NOT NULL`,
    [asked.map(({ id }) => id)],
  )
  const found = new Map(
    (rows as { id: string; ceiling: number | null; code: string | null; charged: number }[]).map((row) => [
      row.id,
      row,
    ]),
  )
  expect(found.size).toBe(asked.length)
  for (const { id, atMostMicro, maxMicro } of asked) {
    const { ceiling, code, charged } = found.get(id)!
    expect(ceiling).toBe(maxMicro)
    expect(charged).toBeLessThanOrEqual(atMostMicro)
    if (maxMicro !== null) expect(charged).toBeLessThanOrEqual(maxMicro)
    if (maxMicro === null || maxMicro >= atMostMicro) expect(code).not.toBe('ceiling_reached')
    if (code === 'ceiling_reached') seen.refused++
    if (charged > 0) seen.charged++
    if (charged > 0 && maxMicro === atMostMicro) seen.atTheEstimate++
  }
}

async function productsOf(
  { reads }: { reads: Parameters<typeof readPrices>[0] },
  ids: string[],
): Promise<EstimatedProduct[]> {
  return (await readPrices(reads, { products: ids, sandbox: '', digest: '' })).products
}
