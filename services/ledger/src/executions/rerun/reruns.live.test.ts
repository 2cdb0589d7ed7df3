import { describe, expect } from 'vitest'
import type { ExecutionRecord, ProgressLine } from '@gateway/api/execution'
import type { RerunQuestion } from '@gateway/ledger-protocol/flow-reads'
import type { Graph } from '@gateway/api/graph'
import { codeOf, ending, failing, idempotencyOf, mint, openEngine, takeNext } from '../../fixtures/engine.ts'
import { findingsOf, openTenant, test as ledgerTest, walletOf } from '../../fixtures/ledger-test.ts'
import { chain, fan, oneCall, saveRevision } from '../../fixtures/sandbox-products.ts'

const TOKENS = 20
const usage = { promptTokens: 1, completionTokens: TOKENS, estimated: false }

const test = ledgerTest
  /** Runs the enqueued nodes of an execution, each paid node for 20 micro-USD. Returns the ids of those nodes. */
  .extend('work', ({ engine, admit }) => async (execution: string, fails: string[] = []) => {
    const instance = await engine.newInstance()
    const ran: string[] = []
    while (engine.jobs.some((job) => job.execution === execution)) {
      const taken = await takeNext(engine, instance, execution)
      const { node } = taken.job
      ran.push(node)
      const paid = taken.claim.callId !== ''
      if (paid) await admit(instance, taken)
      const result = fails.includes(node) ? { result: failing() } : {}
      await engine.complete(ending(taken, { ...(paid && result.result === undefined && { usage }), ...result }))
    }
    return ran
  })
  /** Runs an execution to its end. */
  .extend('ended', ({ begin, work }) => async (graph: Graph, fails: string[] = []) => {
    const execution = await begin(graph)
    await work(execution, fails)
    return execution
  })
  .extend('ask', ({ tenant }) => (execution: string, from: string, more: Partial<RerunQuestion> = {}) => ({
    id: mint('exe'),
    user: tenant.owners.owner,
    project: tenant.project.id,
    execution,
    from,
    revision: null,
    maxMicro: null,
    idempotency: null,
    trace: null,
    ...more,
  }))

const linesOf = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as ProgressLine)
const statesOf = ({ nodes }: ExecutionRecord) => nodes.map(({ status }) => status)
const takenOverIn = ({ nodes }: ExecutionRecord) => nodes.filter((node) => node.takenOver).map(({ id }) => id)

describe('a rerun from a node of an earlier execution', () => {
  test('reuses the stored results upstream of the node, and pays only for the nodes that run again', async ({
    engine,
    replica,
    tenant,
    ended,
    work,
    ask,
  }) => {
    const earlier = await ended(fan([tenant.product, tenant.product]))
    const asked = ask(earlier, 'c1')
    expect(await engine.rerun(asked)).toEqual({
      kind: 'started',
      execution: asked.id,
      project: tenant.project.id,
      sandbox: expect.stringMatching(/^sbx-/) as string,
      revision: 1,
      replayed: false,
    })
    const began = linesOf((await engine.follow({ execution: asked.id, after: -1 })).lines)
    expect(
      began.map((line) => [line.kind, line.kind === 'node' && line.node.id, line.kind !== 'admitted' && line.seq]),
    ).toEqual([
      ['admitted', false, false],
      ['node', 'in', 1],
      ['node', 'c0', 2],
    ])
    expect(await work(asked.id)).toEqual(['c1', 'all', 'out'])

    const [first, second] = [await engine.record(earlier), await engine.record(asked.id)]
    expect(first).toMatchObject({ rerunOf: null, chargedMicro: 2 * TOKENS })
    expect(takenOverIn(first)).toEqual([])
    expect(second).toMatchObject({ status: 'Succeeded', rerunOf: earlier, chargedMicro: TOKENS, output: first.output })
    expect(second.childCalls).toEqual([second.nodes[2]!.callId])
    expect(takenOverIn(second)).toEqual(['in', 'c0'])
    expect(second.nodes[1]).toEqual({
      ...first.nodes[1],
      durationMs: 0,
      remoteMs: null,
      callId: null,
      chargedMicro: 0,
      takenOver: true,
    })
    const lines = linesOf((await engine.follow({ execution: asked.id, after: -1 })).lines)
    expect(lines.map((line) => 'seq' in line && line.seq)).toEqual([0, 1, 2, 3, 4, 5, 6])
    expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 0n, settled: BigInt(3 * TOKENS) })
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
    const detail = await engine.detail(asked.id)
    expect(detail.input).toEqual({ text: 'a question' })
    expect(detail.nodes[1]).toMatchObject({ attempts: 0, startedAt: null, waitedMs: null, takenOver: true })
    expect(detail.nodes[3]!.input).toEqual({ c0: 'by c0', c1: 'by c1' })
  })

  test('has a separate ceiling, which covers only what the rerun pays', async ({
    engine,
    tenant,
    ended,
    work,
    ask,
  }) => {
    const earlier = await ended(fan([tenant.product, tenant.product]))
    const asked = ask(earlier, 'c1', { maxMicro: 1_000 })
    await engine.rerun(asked)
    await work(asked.id)
    expect([(await engine.record(earlier)).maxMicro, await engine.record(asked.id)]).toEqual([
      null,
      expect.objectContaining({ status: 'Succeeded', maxMicro: 1_000, chargedMicro: TOKENS }),
    ])
  })

  test('of a failed or canceled execution runs the nodes without a result, and can be rerun itself', async ({
    engine,
    tenant,
    ended,
    begin,
    work,
    ask,
  }) => {
    const failed = await ended(fan([tenant.product, tenant.product]), ['c1'])
    expect(statesOf(await engine.record(failed))).toEqual(['Succeeded', 'Succeeded', 'Failed', 'Pending', 'Pending'])
    const asked = ask(failed, 'all')
    await engine.rerun(asked)
    expect(await work(asked.id)).toEqual(['c1', 'all', 'out'])
    const again = ask(asked.id, 'out')
    await engine.rerun(again)
    expect(await work(again.id)).toEqual(['out'])
    expect(await engine.record(again.id)).toMatchObject({ status: 'Succeeded', rerunOf: asked.id, chargedMicro: 0 })

    const stopped = await begin(oneCall(tenant.product))
    await engine.cancel({ execution: stopped })
    engine.jobs.length = 0
    const whole = ask(stopped, 'in')
    await engine.rerun(whole)
    expect(await work(whole.id)).toEqual(['draft', 'out'])
    expect(await engine.record(whole.id)).toMatchObject({ status: 'Succeeded', rerunOf: stopped, chargedMicro: TOKENS })
    expect(takenOverIn(await engine.record(whole.id))).toEqual([])
  })

  test('keeps node outputs byte for byte, even if they name a deleted asset', async ({
    engine,
    begin,
    ask,
    fixture,
  }) => {
    const execution = await begin(chain(1))
    const instance = await engine.newInstance()
    const output = '{ "text" : "ü\\u0000 \\ud800 spaces stay", "more": { "asset": "ast_gone" } }'
    const result = { kind: 'succeeded' as const, output, ports: ['text'] }
    await engine.complete(ending(await takeNext(engine, instance, execution), { result }))
    await engine.complete(ending(await takeNext(engine, instance, execution)))
    const asked = ask(execution, 'out')
    await engine.rerun(asked)
    expect((await takeNext(engine, instance, asked.id)).claim.outputs).toEqual({ t0: output })
    const { rows } = await fixture.run(
      `SELECT ordinal, convert_from(output, 'UTF8') AS output, ports FROM money.execution_nodes WHERE execution = $1 AND taken_over`,
      [asked.id],
    )
    expect(rows).toEqual([
      { ordinal: 0, output: '{"text":"a question"}', ports: '["text"]' },
      { ordinal: 1, output, ports: '["text"]' },
    ])
  })

  test('reuses skipped nodes, and ends at once if nothing is left to run', async ({ engine, begin, work, ask }) => {
    const branching: Graph = {
      ...chain(0),
      nodes: [
        { id: 'in', kind: 'input' },
        { id: 'long', kind: 'branch', condition: 'size(text) > 99' },
        { id: 'never', kind: 'template', template: 'Long: {{ text }}' },
        { id: 'out', kind: 'output' },
      ],
      edges: [
        { from: 'in.text', to: 'long.text' },
        { from: 'long.true.text', to: 'never.text' },
        { from: 'in.text', to: 'out.text' },
      ],
    }
    const earlier = await begin(branching)
    const instance = await engine.newInstance()
    const branched = { kind: 'succeeded' as const, output: '{"false.text":"a question"}', ports: ['false.text'] }
    for (const _ of ['long', 'out']) {
      const taken = await takeNext(engine, instance, earlier)
      await engine.complete(ending(taken, taken.job.node === 'long' ? { result: branched } : {}))
    }
    expect(await engine.record(earlier)).toMatchObject({ status: 'Succeeded', output: { text: 'by out' } })

    const other = ask(earlier, 'out')
    await engine.rerun(other)
    expect(await work(other.id)).toEqual(['out'])
    expect(takenOverIn(await engine.record(other.id))).toEqual(['in', 'long', 'never'])
    const nothing = ask(earlier, 'never')
    await engine.rerun(nothing)
    expect(await engine.record(nothing.id)).toMatchObject({
      status: 'Succeeded',
      output: { text: 'by out' },
      startedAt: null,
      completedAt: expect.any(String) as string,
    })
    const lines = linesOf((await engine.follow({ execution: nothing.id, after: -1 })).lines)
    expect(lines.map((line) => [line.kind, 'seq' in line && line.seq])).toEqual([
      ['admitted', 0],
      ['node', 1],
      ['node', 2],
      ['node', 3],
      ['complete', 4],
    ])
  })

  test('on another revision reuses the nodes that are the same, and is refused with those that differ [rerun_differs]', async ({
    engine,
    tenant,
    ended,
    work,
    ask,
    fixture,
  }) => {
    const graph = fan([tenant.product, tenant.product])
    const earlier = await ended(graph)
    const { sandbox } = await engine.record(earlier)
    const changed = (id: string, to: object): Graph => ({
      ...graph,
      nodes: graph.nodes.map((node) => (node.id === id ? { ...node, ...to } : node)),
    })
    const save = (of: Graph) => saveRevision(fixture, sandbox, tenant.owners.owner, { graph: of })
    const revision = await save(changed('all', { template: 'Now {{ c0 }}, {{ c1 }}' }))
    const asked = ask(earlier, 'all', { revision })
    expect(await engine.rerun(asked)).toMatchObject({ kind: 'started', revision })
    expect(await work(asked.id)).toEqual(['all', 'out'])
    expect(await engine.record(asked.id)).toMatchObject({ status: 'Succeeded', revision: 2, chargedMicro: 0 })
    const same = ask(earlier, 'all') // the revision of the earlier execution, whichever is active now
    await engine.rerun(same)
    expect(await work(same.id)).toEqual(['all', 'out'])
    expect(await engine.record(same.id)).toMatchObject({ revision: 1 })

    const other = await save(changed('c0', { params: { max_tokens: 7 } }))
    expect(await engine.rerun(ask(earlier, 'all', { revision: other }))).toEqual({
      refused: { code: 'rerun_differs', facts: { execution: earlier, revision: other, nodes: ['c0'] } },
    })
    expect(codeOf(await engine.rerun(ask(earlier, 'c0', { revision: other })))).toBe('started')
  })
})

describe('the idempotency key of a rerun', () => {
  test('starts one execution if 40 requests send it to two replicas, and is refused with another request [idempotency_mismatch]', async ({
    engine,
    twin,
    tenant,
    ended,
    ask,
    fixture,
  }) => {
    const earlier = await ended(chain(1))
    const idempotency = idempotencyOf('rerun')
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) => (n % 2 ? engine : twin).rerun(ask(earlier, 't0', { idempotency }))),
    )
    const begun = new Set(answers.map((answer) => ('refused' in answer ? answer.refused.code : answer.execution)))
    expect(begun.size).toBe(1)
    expect(answers.filter((answer) => 'kind' in answer && !answer.replayed)).toHaveLength(1)
    const { rows } = await fixture.run('SELECT id FROM money.executions WHERE rerun_of = $1', [earlier])
    expect(rows).toEqual([{ id: [...begun][0] }])
    const other = { idempotency: idempotencyOf('rerun', 'of another thing') }
    expect(codeOf(await engine.rerun(ask(earlier, 'out', other)))).toBe('idempotency_mismatch')
    // Idempotency keys are scoped to the user.
    const otherUser = await engine.rerun(ask(earlier, 't0', { idempotency, user: 'usr_other' }))
    expect(otherUser).toMatchObject({ kind: 'started', replayed: false })

    // A repeat checks neither the wallet nor the earlier execution.
    await fixture.run('UPDATE money.wallets SET settled = funded WHERE project = $1', [tenant.project.id])
    await fixture.run('DELETE FROM money.execution_nodes WHERE execution = $1', [earlier])
    await fixture.run('DELETE FROM money.executions WHERE id = $1', [earlier])
    expect(await twin.rerun(ask(earlier, 't0', { idempotency }))).toMatchObject({
      kind: 'started',
      execution: [...begun][0],
      replayed: true,
    })
    await fixture.run('DELETE FROM money.executions WHERE id = $1', [[...begun][0]])
    expect(codeOf(await engine.rerun(ask(earlier, 't0', { idempotency })))).toBe('answer_not_kept')
  })

  test('is not needed to repeat a request under its id: two replicas return the same execution', async ({
    engine,
    twin,
    ended,
    ask,
    fixture,
  }) => {
    const earlier = await ended(chain(1))
    const asked = ask(earlier, 't0')
    const answers = await Promise.all([engine.rerun(asked), twin.rerun(asked), engine.rerun(asked)])
    for (const answer of answers) expect(answer).toEqual({ ...answers[0], replayed: false })
    const { rows } = await fixture.run('SELECT id FROM money.executions WHERE rerun_of = $1', [earlier])
    expect(rows).toEqual([{ id: asked.id }])
  })
})

describe('a rerun is refused', () => {
  test('for an execution of another project, or one that does not exist [execution_not_found]', async ({
    engine,
    fixture,
    ended,
    ask,
  }) => {
    const earlier = await ended(chain(1))
    const other = await openTenant(fixture)
    const elsewhere = { project: other.project.id, user: other.owners.owner }
    for (const asked of [ask(earlier, 't0', elsewhere), ask(mint('exe'), 't0')])
      expect(await engine.rerun(asked)).toEqual({
        refused: { code: 'execution_not_found', facts: { execution: asked.execution } },
      })
  })

  test('for an execution that has not ended [execution_not_ended], and for an unknown node', async ({
    engine,
    tenant,
    begin,
    ended,
    ask,
  }) => {
    const open = await begin(oneCall(tenant.product))
    expect(codeOf(await engine.rerun(ask(open, 'draft')))).toBe('execution_not_ended')
    await engine.cancel({ execution: open })
    expect(codeOf(await engine.rerun(ask(open, 'draft')))).toBe('started')
    expect(await engine.rerun(ask(await ended(chain(1)), 't7'))).toEqual({
      refused: { code: 'node_unknown', facts: { from: 't7' } },
    })
  })

  test('for a revision that does not exist [revision_not_active] or has problems [graph_invalid]', async ({
    engine,
    tenant,
    ended,
    ask,
    fixture,
  }) => {
    const earlier = await ended(chain(1))
    const { sandbox } = await engine.record(earlier)
    const problem = 'The node out has no text.'
    const draft = await saveRevision(fixture, sandbox, tenant.owners.owner, { graph: chain(0), problem })
    expect(codeOf(await engine.rerun(ask(earlier, 't0', { revision: 7 })))).toBe('revision_not_active')
    expect(codeOf(await engine.rerun(ask(earlier, 't0', { revision: draft })))).toBe('graph_invalid')
  })

  test('if a node calls a product that is no longer assigned, unless its result is reused [product_not_assigned]', async ({
    engine,
    tenant,
    ended,
    ask,
    fixture,
  }) => {
    const earlier = await ended(oneCall(tenant.product))
    await fixture.run('DELETE FROM control.assignments WHERE project = $1', [tenant.project.id])
    expect(await engine.rerun(ask(earlier, 'draft'))).toEqual({
      refused: { code: 'product_not_assigned', facts: { product: tenant.product } },
    })
    expect(codeOf(await engine.rerun(ask(earlier, 'out')))).toBe('started')
  })

  test('if the wallet is empty [insufficient_budget] or too many executions are open [overloaded]', async ({
    engine,
    tenant,
    ended,
    begin,
    ask,
    fixture,
    database,
  }) => {
    const earlier = await ended(chain(1))
    await begin(chain(1))
    const small = await openEngine(database.ledgerUrl, { openExecutions: 1 })
    expect(codeOf(await small.rerun(ask(earlier, 't0')))).toBe('overloaded')
    await small.close()
    await fixture.run('UPDATE money.wallets SET settled = funded WHERE project = $1', [tenant.project.id])
    expect(codeOf(await engine.rerun(ask(earlier, 't0')))).toBe('insufficient_budget')
  })
})
