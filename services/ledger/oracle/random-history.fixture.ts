import fc from 'fast-check'

// Steps of a random history before their targets are known: numbers are taken modulo the count of what exists by then.

const ITEMS = 40

/**
 * A value one time in `n`, else null. `fc.option` works the other way round: its `freq` says how rarely null occurs.
 */
const oneIn = <T>(n: number, arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: n - 1, arbitrary: fc.constant(null) }, { weight: 1, arbitrary })

const asked = {
  model: fc.nat(),
  instance: fc.constantFrom('alive', 'alive', 'alive', 'alive', 'alive', 'ended'),
  bytes: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 20, max: 2_000 }) },
    { weight: 1, arbitrary: fc.integer({ min: 20, max: 128_000 }) },
  ),
  messages: fc.integer({ min: 1, max: 100 }),
  tools: fc.constantFrom(0, 0, 1, 64),
  images: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 1),
  files: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 0, 0, 1),
  counted: oneIn(8, fc.integer({ min: 1, max: 30_000 })),
  maxTokens: fc.option(fc.constantFrom(0, 1, 10, 100, 300, 300, 300, 4_000, 8_192, 9_000), { freq: 3 }),
  parameters: fc.constantFrom<string[]>([], [], [], [], [], [], ['tools'], ['tools'], ['tools', 'logprobs']),
  /** Reuses an earlier id. */
  sameIdAs: oneIn(12, fc.nat()),
}
export const admission = fc.record({
  ...asked,
  of: fc.constant('a key' as const),
  /** Only checks what would be decided, without an instance. */
  reservesNothing: oneIn(12, fc.constant(true)),
  key: fc.nat(),
  tag: fc.constantFrom(null, null, null, null, null, null, 'batch', 'batch', 'batch', 'chat'),
  selector: fc.constantFrom(null, null, null, null, null, null, 'own', 'own', 'own', 'other'),
  /** Few, so that keys collide: repeats, mismatches, copies in one batch. */
  idempotency: fc.option(fc.nat(12), { freq: 3 }),
  body: fc.nat(3),
  /** Sends the request of another item in its batch under a separate id. */
  copyOf: oneIn(6, fc.nat()),
})
/** Parts of the prompt and of the completion, sometimes reported as more than the whole. */
const parts = {
  cachedTokens: fc.option(fc.integer({ min: 0, max: 45_000 }), { nil: undefined }),
  cacheWriteTokens: fc.option(fc.integer({ min: 0, max: 45_000 }), { nil: undefined }),
  reasoningTokens: fc.option(fc.integer({ min: 0, max: 11_000 }), { nil: undefined }),
}
const nodeAdmission = fc.record({
  ...asked,
  of: fc.constant('an execution' as const),
  node: fc.nat(),
  /** Uses a lease that was taken from the node. */
  lost: oneIn(8, fc.nat()),
  copyOf: fc.constant(null),
})
const closing = fc.record({
  op: fc.constantFrom('settle' as const, 'settle' as const, 'settle' as const, 'release' as const, 'expire' as const),
  of: fc.nat(),
  promptTokens: fc.integer({ min: 0, max: 40_000 }),
  completionTokens: fc.integer({ min: 0, max: 10_000 }),
  ...parts,
  /** An id that was never admitted. */
  neverAdmitted: fc.integer({ min: 0, max: 40 }).map((n) => n === 0),
})
const nodeClosing = fc.record({
  /** A node that is reserved, or one that was, or a direct call. */
  of: fc.nat(),
  instead: oneIn(6, fc.constantFrom('lost' as const, 'direct call' as const)),
  usage: fc.option(
    fc.record({
      promptTokens: fc.integer({ min: 0, max: 40_000 }),
      completionTokens: fc.integer({ min: 0, max: 10_000 }),
      ...parts,
    }),
    { freq: 2 },
  ),
  /** Sometimes a node keeps its lease, which must not happen: it still must not be charged again. */
  keepsLease: oneIn(4, fc.constant(true)),
})
const lateAnswer = fc.record({
  /** A node that was reserved, or one that is, or one of another execution than it names. */
  of: fc.nat(),
  instead: oneIn(5, fc.constantFrom('held' as const, 'of another execution' as const)),
  promptTokens: fc.integer({ min: 0, max: 40_000 }),
  completionTokens: fc.integer({ min: 0, max: 10_000 }),
  ...parts,
})
const admissions = (length: fc.ArrayConstraints) =>
  fc.array(fc.oneof({ weight: 3, arbitrary: admission }, { weight: 1, arbitrary: nodeAdmission }), length)
const batch = (length: fc.ArrayConstraints) =>
  fc.record({
    kind: fc.constant('batch' as const),
    admissions: admissions(length),
    closings: fc.array(closing, length),
    waitForLocks: fc.boolean(),
  })
export const command = fc.oneof(
  { weight: 8, arbitrary: batch({ minLength: 10, maxLength: ITEMS }) },
  { weight: 8, arbitrary: batch({ maxLength: 1 }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('close nodes' as const),
      closings: fc.array(nodeClosing, { minLength: 1, maxLength: ITEMS >> 1 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('late answers' as const),
      answers: fc.array(lateAnswer, { minLength: 1, maxLength: ITEMS >> 1 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('fund' as const),
      project: fc.nat(),
      micro: fc.integer({ min: 1, max: 60_000 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('set budget' as const),
      which: fc.nat(),
      /** Micro-USD above what is spent and reserved; null: the budget is removed. */
      more: fc.option(fc.integer({ min: -2_000, max: 60_000 }), { freq: 8 }),
      hard: fc.constantFrom(true, true, false),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('correct' as const),
      project: fc.nat(),
      micro: fc.integer({ min: -50_000, max: 20_000 }).filter((micro) => micro !== 0),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('restore' as const),
      key: fc.nat(),
      model: fc.nat(),
      micro: fc.integer({ min: 0, max: 60_000 }),
      tag: fc.constantFrom(null, null, 'batch'),
      /** An id that was admitted, so its reservation was not lost. */
      notLost: oneIn(4, fc.nat()),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('revoke' as const), key: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rotate' as const), key: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pause' as const), key: fc.nat() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('fail execution' as const, 'withdraw user' as const),
      which: fc.nat(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('end instance' as const) }) },
)
export type Command = typeof command extends fc.Arbitrary<infer C> ? C : never
export type Admission = typeof admission extends fc.Arbitrary<infer A> ? A : never
export type NodeAdmission = typeof nodeAdmission extends fc.Arbitrary<infer A> ? A : never
export type NodeClosing = typeof nodeClosing extends fc.Arbitrary<infer C> ? C : never
export type Closing = typeof closing extends fc.Arbitrary<infer C> ? C : never
export type RandomLateAnswer = typeof lateAnswer extends fc.Arbitrary<infer A> ? A : never
