import type { EstimateFacts } from '@gateway/api/estimate'
import type { Graph } from '@gateway/api/graph'
import { Refusal } from '@gateway/api/refusal'
import { buildPackage } from '@gateway/flow/package'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openEstimator } from './estimator.ts'

const NODES = 20
const text = { type: 'string' }
const each = <T>(of: (id: string) => T) => Array.from({ length: NODES }, (_, n) => of(`n${n}`))

/** Twenty expressions that each use all of their steps. */
const graph: Graph = {
  input: { type: 'object', properties: { text }, required: [] },
  output: { type: 'object', properties: { out: text }, required: [] },
  nodes: [
    { id: 'in', kind: 'input' },
    ...each((id) => ({ id, kind: 'expression', expression: 'text.split("").exists(c, c == "z") ? text : text' })),
    { id: 'end', kind: 'output' },
  ],
  edges: [...each((id) => ({ from: 'in.text', to: `${id}.text` })), { from: 'in.text', to: 'end.out' }],
}
const last = { samePackage: true, executions: 0, minMicro: null, medianMicro: null, p90Micro: null, maxMicro: null }

function factsOf(project: string, input: string): EstimateFacts {
  const { package: flow } = buildPackage(graph)
  return { project, sandbox: 'sbx-a', revision: 1, package: flow, values: { text: input }, products: [], last }
}

const open = () => {
  const troubles: unknown[] = []
  const estimator = openEstimator({ onTrouble: (reason) => troubles.push(reason) })
  onTestFinished(() => estimator.close())
  const estimate = (facts: EstimateFacts) =>
    estimator.estimate(
      facts.project,
      async () => facts,
      async () => facts,
    )
  return { estimator, estimate, troubles }
}

test('a flood of estimates by one project is refused beyond its share, and another project waits for one of them [overloaded]', async () => {
  const { estimate, troubles } = open()
  const order: string[] = []
  const ask = (project: string) =>
    estimate(factsOf(project, 'x')).then(
      ({ object }) => (order.push(project), object),
      (error: unknown) => (error instanceof Refusal ? error.code : error),
    )
  const flood = Array.from({ length: 300 }, () => ask('busy'))
  const other = ask('other')
  expect(await other).toBe('sandbox.estimate')
  expect(order.length).toBeLessThanOrEqual(2)
  const outcomes = Object.groupBy(await Promise.all(flood), (outcome) => String(outcome))
  expect([outcomes['sandbox.estimate']?.length, outcomes['overloaded']?.length]).toEqual([21, 279])
  expect(troubles).toEqual([])
})

test('the process does other work while an estimate runs', async () => {
  const { estimate } = open()
  await estimate(factsOf('prj', 'warm'))
  let turns = 0
  let done = false
  const running = estimate(factsOf('prj', 'x'.repeat(60_000))).finally(() => (done = true))
  while (!done) {
    await delay(1)
    turns++
  }
  await running
  expect(turns).toBeGreaterThan(NODES)
})

test('a thread that fails refuses its estimate, and the next one has a new thread [overloaded]', async () => {
  const { estimate, troubles } = open()
  const broken = { ...factsOf('prj', 'x'), package: null as never }
  await expect(estimate(broken)).rejects.toMatchObject({ code: 'overloaded' })
  expect(troubles).toHaveLength(1)
  expect(await estimate(factsOf('prj', 'x'))).toMatchObject({ object: 'sandbox.estimate', atMostMicro: 0 })
})

test('reads nothing for an estimate beyond the share of its project [overloaded]', async () => {
  const { estimator } = open()
  const go = Promise.withResolvers<never>()
  let read = 0
  const waiting = Array.from({ length: 30 }, () =>
    estimator
      .estimate(
        'prj',
        () => {
          read++
          return go.promise
        },
        async () => factsOf('prj', 'x'),
      )
      .catch((error: Error) => error.message),
  )
  go.reject(new Error('no body'))
  const outcomes = await Promise.all(waiting)
  expect([read, outcomes.filter((message) => message === 'no body').length]).toEqual([21, 21])
})

test('asks the ledger for one estimate of a project at a time', async () => {
  const { estimator } = open()
  const go = Promise.withResolvers<void>()
  const asked: string[] = []
  const estimate = (project: string, n: number) =>
    estimator.estimate(
      project,
      async () => n,
      async (question) => {
        asked.push(`${project} ${question}`)
        await go.promise
        return factsOf(project, 'x')
      },
    )
  const [first, second, other] = [estimate('prj', 1), estimate('prj', 2), estimate('other', 1)]
  await expect.poll(() => asked).toContain('other 1') // begun after the second
  expect(asked).toEqual(['prj 1', 'other 1'])
  go.resolve()
  await Promise.all([first, second, other])
  expect(asked).toEqual(['prj 1', 'other 1', 'prj 2'])
})
