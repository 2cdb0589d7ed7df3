// Examples of what is answered about executions, as the description of the API shows them; a test holds them against the shapes.

const times = {
  createdAt: '2026-11-23T09:00:00.000Z',
  startedAt: '2026-11-23T09:00:00.021Z',
  completedAt: '2026-11-23T09:00:02.480Z',
}
const said = {
  code: 'execution_cancelled',
  type: 'conflict_error',
  param: null,
  resolution:
    'Run the sandbox product again with a new Idempotency-Key, which is charged anew: the key of this execution is spent and answers this failure again.',
  details: { by: 'person' },
} as const
const input = {
  id: 'in',
  kind: 'input',
  status: 'Succeeded',
  output: { topic: 'otters' },
  error: null,
  durationMs: 0,
  remoteMs: null,
  callId: null,
  chargedMicro: 0,
  takenOver: false,
} as const
const outline = {
  id: 'outline',
  kind: 'product.chat',
  status: 'Succeeded',
  output: { text: 'Rivers, then tools.' },
  error: null,
  durationMs: 1_204,
  remoteMs: 1_187,
  callId: 'inv_01m834tq',
  chargedMicro: 42,
  takenOver: false,
} as const
const draft = {
  id: 'draft',
  kind: 'product.chat',
  status: 'Failed',
  output: null,
  error: { ...said, message: 'The execution was stopped by a person. This node was not charged.' },
  durationMs: 1_230,
  remoteMs: 1_215,
  callId: 'inv_01m834ts',
  chargedMicro: 0,
  takenOver: false,
} as const
const output = { ...input, id: 'out', kind: 'output', status: 'Pending', output: null, durationMs: null } as const

/** One that a person stopped: what had been answered by then is charged. */
export const executionExample = {
  id: 'exe_01m834tq64ywmpy9zwgxqtvp15',
  object: 'sandbox.execution',
  sandbox: 'sbx-01m834tq0j3s8ks7wvs4dmf6qw',
  revision: 3,
  project: 'prj_01m834tp',
  rerunOf: null,
  status: 'Cancelled',
  output: null,
  error: {
    ...said,
    message:
      'The execution was stopped by a person. The execution exe_01m834tq64ywmpy9zwgxqtvp15 was charged 42 micro-USD for the calls that were answered.',
  },
  nodes: [input, outline, draft, output],
  childCalls: [outline.callId, draft.callId],
  maxMicro: 500,
  chargedMicro: 42,
  ...times,
} as const

const neverTaken = { input: null, attempts: 0, startedAt: null, waitedMs: null }
const taken = { attempts: 1, startedAt: times.startedAt, waitedMs: 21 }

/** The same as people read it. */
export const executionDetailExample = {
  ...executionExample,
  input: input.output,
  nodes: [
    { ...input, ...neverTaken },
    { ...outline, ...taken, input: { prompt: 'Outline a text about otters.' } },
    {
      ...draft,
      attempts: 1,
      startedAt: '2026-11-23T09:00:01.225Z',
      waitedMs: 0,
      input: { prompt: 'Rivers, then tools.' },
    },
    { ...output, ...neverTaken },
  ],
} as const

export const progressExample = { kind: 'node', seq: 2, node: outline } as const
