import { hash } from 'node:crypto'
import { describe, expect } from 'vitest'
import type { ExecutionDetail, ExecutionRecord } from '@gateway/api/execution'
import type { Graph } from '@gateway/api/graph'
import { harmedStackTest as test } from './src/harmed-stack-test.ts'
import { ended, killed } from './src/kills.ts'
import { wovenFlow } from './src/paid-flows.ts'
import { openPaidTenant } from './src/paid-tenant.ts'
import { openTokensOf } from './src/provider-tokens.ts'
import { nodesToRerun, rerunUntilOver } from './src/reruns.ts'
import type { ProcessStack } from './src/stack.ts'
import { runAndStop } from './src/stopped-execution.ts'

// Executions that succeeded, failed or were stopped are rerun from any node, and the rerun is rerun from another node. The provider is
// called only for the nodes below, the charge is what it answers for them, and one idempotency key starts one execution.

const FLOWS = 10
const EXECUTIONS = 50
const MOST_CALLS = 7
const MAX_CONCURRENT = 6
const LATENCY_MS = 15

describe.for([
  ['all services run', false],
  ['workers and ledgers are killed', true],
] as const)('reruns while %s', ([, kills]) => {
  test(`${2 * EXECUTIONS} reruns call the provider and are charged only for the nodes that run again`, async ({
    stack,
  }) => {
    const tenant = await openTenant(stack)
    const executions = await endedExecutions(stack, tenant)
    const settledBefore = (await stack.wallet(tenant.project)).settled
    await stack.provider.control.setFaults([{ latencyMs: LATENCY_MS }])
    await stack.provider.control.clearCalls()

    const reruns: Rerun[] = []
    const working = inTurns(executions, async (execution, n) => {
      const second = await runFromAny(stack, tenant, execution, `second-${n}`)
      reruns.push(second)
      reruns.push(await runFromAny(stack, tenant, second, `third-${n}`))
    })
    if (kills) await killParts(stack, reruns)
    await working
    await stack.untilNothingIsReserved(tenant.project, 30_000)

    for (const rerun of reruns) expectTakenOver(rerun)
    await expectCalled(stack, reruns, kills)
    await expectCharged(stack, tenant, reruns, settledBefore)
    await expectBegunOnce(stack, tenant, reruns)
    expect(await stack.findings([tenant.project])).toEqual([])
  }, 600_000)
})

/** An ended execution of one of the flows. Each paid node prompts with its ID and `text`. */
interface Ended {
  text: string
  graph: Graph
  record: Pick<ExecutionRecord, 'id' | 'nodes'>
}
interface Rerun extends Ended {
  earlier: Ended['record']
  rerunNodes: Set<string>
  again: Parameters<typeof rerunUntilOver>[1]
  record: ExecutionDetail
}
type Tenant = Awaited<ReturnType<typeof openTenant>>

async function openTenant(stack: ProcessStack) {
  const tenant = await openPaidTenant(stack, { mostCalls: 0, latencyMs: LATENCY_MS })
  const flows: { graph: Graph; sandbox: string }[] = []
  for (let n = 0; n < FLOWS; n++) {
    const graph = wovenFlow(tenant.product, 2 + (n % (MOST_CALLS - 1)), chanceOf(`flow ${n}`))
    const { id } = await stack.fixture.sandbox({ id: tenant.project }, graph, { activate: true })
    flows.push({ graph, sandbox: id })
  }
  const token = (await stack.fixture.token(tenant.owner)).secret
  return { ...tenant, flows, token, path: `/api/v2/tenants/${tenant.tenant}/projects/${tenant.project}` }
}

/** Runs executions of which a quarter fail at a node and a quarter are stopped. */
async function endedExecutions(stack: ProcessStack, { flows, secret, project }: Tenant): Promise<Ended[]> {
  const texts = Array.from({ length: EXECUTIONS }, (_, n) => `run${n}.`)
  const failing = texts.flatMap((text, n) => (n % 4 === 1 ? [{ prompt: `call${n % 3} ${text}`, status: 400 }] : []))
  await stack.provider.control.setFaults([...failing, { latencyMs: LATENCY_MS }])
  const executions: Ended[] = []
  await inTurns(texts, async (text, n) => {
    const { graph, sandbox } = flows[n % FLOWS]!
    const stopAfterMs = n % 4 === 2 ? (n * 37) % 131 : null
    const call = { sandbox, secret, input: { text }, idempotencyKey: `${project}-first-${n}`, stopAfterMs }
    executions.push({ text, graph, record: await runAndStop(stack, call) })
  })
  const states = new Set(executions.map(({ record }) => (record as ExecutionRecord).status))
  expect([...states].toSorted()).toEqual(['Cancelled', 'Failed', 'Succeeded'])
  return executions
}

async function runFromAny(
  stack: ProcessStack,
  { path, token, project }: Tenant,
  ended: Ended,
  name: string,
): Promise<Rerun> {
  const { graph, record: earlier } = ended
  const from = graph.nodes[Math.floor(chanceOf(name)() * graph.nodes.length)]!.id
  const again = { path, token, execution: earlier.id, from, idempotencyKey: `${project}-${name}` }
  const record = await rerunUntilOver(stack, again)
  return { ...ended, earlier, rerunNodes: nodesToRerun(graph, earlier, from), again, record }
}

async function killParts({ workers, ledgers }: ProcessStack, reruns: unknown[]): Promise<void> {
  const harms = [[workers[0]!], [ledgers[0]!], workers, ledgers]
  for (const [n, programs] of harms.entries()) {
    await ended(reruns, Math.floor(((n + 1) * 2 * EXECUTIONS) / (harms.length + 2)))
    await Promise.all(programs.map((program) => killed(program)))
  }
}

/** Asserts that nodes not below the rerun node keep their earlier result at no charge. */
function expectTakenOver({ record, earlier, rerunNodes }: Rerun): void {
  expect(record).toMatchObject({ status: 'Succeeded', rerunOf: earlier.id })
  const before = new Map(earlier.nodes.map((node) => [node.id, node]))
  for (const { id, takenOver, status, output, chargedMicro, callId } of record.nodes) {
    expect([id, takenOver]).toEqual([id, !rerunNodes.has(id)])
    if (!takenOver) continue
    const { status: statusBefore, output: outputBefore } = before.get(id)!
    expect({ status, output, chargedMicro, callId }).toEqual({
      status: statusBefore,
      output: outputBefore,
      chargedMicro: 0,
      callId: null,
    })
  }
}

/** The prompts of the paid nodes that ran again. */
function promptsOf({ record, rerunNodes, text }: Rerun): string[] {
  const ran = record.nodes.filter(
    ({ id, kind, status }) => kind.startsWith('product.') && status !== 'Skipped' && rerunNodes.has(id),
  )
  return ran.map(({ id }) => `${id} ${text}`)
}

/** Asserts the calls at the provider. A call in progress in a killed service may be made again. */
async function expectCalled(stack: ProcessStack, reruns: readonly Rerun[], kills: boolean): Promise<void> {
  const count = (prompts: readonly string[]) =>
    Object.fromEntries([...Map.groupBy(prompts, (prompt) => prompt)].map(([prompt, all]) => [prompt, all.length]))
  const expected = count(reruns.flatMap(promptsOf).toSorted())
  const called = count((await stack.provider.control.calls()).map(({ prompt }) => prompt).toSorted())
  expect(Object.keys(called)).toEqual(Object.keys(expected))
  const again = Object.keys(expected).filter((prompt) => called[prompt]! > expected[prompt]!)
  const missing = Object.keys(expected).filter((prompt) => called[prompt]! < expected[prompt]!)
  expect(missing).toEqual([])
  if (!kills) expect(again).toEqual([])
  const paidNodes = reruns.flatMap(({ graph }) => graph.nodes.filter(({ kind }) => kind.startsWith('product.')))
  expect(reruns.flatMap(promptsOf).length).toBeLessThan((paidNodes.length * 3) / 4) // many results were kept
}

/** Asserts one charge per rerun: one micro-USD per token that the provider answers to the prompts that ran again. */
async function expectCharged(stack: ProcessStack, { project }: Tenant, reruns: readonly Rerun[], before: bigint) {
  await stack.provider.control.clearFaults()
  const tokensOf = await openTokensOf(stack)
  let sum = 0n
  for (const rerun of reruns) {
    let micro = 0
    for (const prompt of promptsOf(rerun)) micro += await tokensOf(prompt)
    const { id, chargedMicro, childCalls } = rerun.record
    expect([id, chargedMicro, childCalls.length]).toEqual([id, micro, promptsOf(rerun).length])
    sum += BigInt(micro)
  }
  expect(await stack.wallet(project)).toMatchObject({ reserved: 0n, settled: before + sum })
}

/** Asserts that a repeat returns the same execution, and that no others exist. */
async function expectBegunOnce(stack: ProcessStack, { project }: Tenant, reruns: readonly Rerun[]): Promise<void> {
  for (const { again, record } of reruns.filter((_, n) => n % 10 === 0))
    expect(await rerunUntilOver(stack, again)).toEqual(record)
  const { rows } = await stack.fixture.run(
    'SELECT id FROM money.executions WHERE project = $1 AND rerun_of IS NOT NULL ORDER BY id',
    [project],
  )
  expect(rows.map(({ id }: { id: string }) => id)).toEqual(reruns.map(({ record }) => record.id).toSorted())
}

/** Processes the items, MAX_CONCURRENT at a time. */
async function inTurns<T>(items: readonly T[], work: (item: T, n: number) => Promise<void>): Promise<void> {
  const entries = items.entries()
  const worker = async () => {
    for (const [n, item] of entries) await work(item, n)
  }
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, worker))
}

/** Pseudorandom numbers from 0 to 1, seeded by the name. */
function chanceOf(name: string): () => number {
  let n = 0
  return () => Number.parseInt(hash('sha256', `${name} ${n++}`).slice(0, 8), 16) / 2 ** 32
}
