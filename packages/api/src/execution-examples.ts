import { exampleIds } from './example-ids.ts'
import type { ContractSide, Graph } from './graph.ts'

// Examples of a sandbox product and its executions, as the description of the API shows them. A test checks them
// against the shapes.

/** One side of a contract, as a package stores it. */
export const sideInPackage = (side: ContractSide) => ({ ...side, additionalProperties: false })

const text = { type: 'string' }

/** A flow with one paid call. */
export const graphExample = {
  input: { type: 'object', properties: { topic: text }, required: ['topic'] },
  output: { type: 'object', properties: { text }, required: ['text'] },
  nodes: [
    { id: 'in', kind: 'input' },
    { id: 'ask', kind: 'template', template: 'Write about {{ topic }}.' },
    { id: 'draft', kind: 'product.chat', product: exampleIds.product, params: { max_tokens: 300 } },
    { id: 'out', kind: 'output' },
  ],
  edges: [
    { from: 'in.topic', to: 'ask.topic' },
    { from: 'ask.text', to: 'draft.prompt' },
    { from: 'draft.text', to: 'out.text' },
  ],
} satisfies Graph

export const inputExample = { topic: 'otters' }
const prompt = { text: 'Write about otters.' }
const answer = { text: 'Otters hold hands while they sleep.' }

const times = {
  createdAt: '2026-11-23T09:00:00.000Z',
  startedAt: '2026-11-23T09:00:00.021Z',
  completedAt: '2026-11-23T09:00:02.480Z',
}
const succeeded = {
  status: 'Succeeded',
  error: null,
  durationMs: 0,
  remoteMs: null,
  callId: null,
  chargedMicro: 0,
  takenOver: false,
} as const
const nodes = [
  { ...succeeded, id: 'in', kind: 'input', output: inputExample },
  { ...succeeded, id: 'ask', kind: 'template', output: prompt, durationMs: 2 },
  {
    ...succeeded,
    id: 'draft',
    kind: 'product.chat',
    output: answer,
    durationMs: 1_204,
    remoteMs: 1_187,
    callId: exampleIds.invocation,
    chargedMicro: 42,
  },
  { ...succeeded, id: 'out', kind: 'output', output: answer },
] as const

const summary = {
  id: exampleIds.execution,
  object: 'sandbox.execution',
  sandbox: exampleIds.sandbox,
  revision: 1,
  project: exampleIds.project,
  rerunOf: null,
  status: 'Succeeded',
  error: null,
  maxMicro: null,
  chargedMicro: 42,
  ...times,
} as const

/** The same execution in a list. */
export const executionSummaryExample = { ...summary, key: exampleIds.key, user: null } as const

export const executionExample = {
  ...summary,
  output: answer,
  nodes,
  childCalls: [exampleIds.invocation],
} as const

const took = { attempts: 1, startedAt: times.startedAt, waitedMs: 21 }
const givenTo = [null, inputExample, { prompt: prompt.text }, null]

/** The same execution as users read it. */
export const executionDetailExample = {
  ...executionExample,
  input: inputExample,
  nodes: nodes.map((node, n) => ({
    ...node,
    ...(givenTo[n] ? took : { attempts: 0, startedAt: null, waitedMs: null }),
    input: givenTo[n] ?? null,
  })),
}

const said = {
  code: 'execution_cancelled',
  type: 'conflict_error',
  param: null,
  resolution:
    'Run the sandbox product again with a new Idempotency-Key. The new run is charged; the key of this execution keeps returning this failure.',
  details: { by: 'user' },
} as const
const stopped = {
  status: 'Failed',
  output: null,
  error: { ...said, message: 'The execution was stopped by a user. This node was not charged.' },
  chargedMicro: 0,
} as const
const pending = { status: 'Pending', output: null, durationMs: null } as const
const cancelled = {
  status: 'Cancelled',
  output: null,
  error: {
    ...said,
    message: `The execution was stopped by a user. Execution ${exampleIds.execution} was not charged.`,
  },
  chargedMicro: 0,
} as const

/** An execution that a user stopped while its call was in flight. */
export const cancelledExample = {
  ...executionExample,
  ...cancelled,
  nodes: [nodes[0], nodes[1], { ...nodes[2], ...stopped }, { ...nodes[3], ...pending }],
} as const

/** The same execution as users read it. */
export const cancelledDetailExample = {
  ...executionDetailExample,
  ...cancelled,
  nodes: executionDetailExample.nodes.map((node, n) => ({ ...node, ...cancelledExample.nodes[n] })),
}

/** Progress lines of an execution that succeeds. */
export const progressExamples = [
  { kind: 'admitted', seq: 0, executionId: exampleIds.execution, revision: 1, at: times.createdAt },
  ...nodes.map((node, n) => ({ kind: 'node' as const, seq: n + 1, node })),
  { kind: 'complete', seq: nodes.length + 1, execution: executionExample },
] as const
