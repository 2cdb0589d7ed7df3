import { z } from 'zod'
import { exampleIds } from '../example-ids.ts'
import { id, time } from './fields.ts'

// What providers answered, for platform operators (rules §7.11).

/** The last hour, day or seven days. */
export const providerRange = z.enum(['hour', 'day', 'week'])
export type ProviderRange = z.infer<typeof providerRange>

export const providerQuery = z
  .strictObject({ range: providerRange.default('hour') })
  .meta({ examples: [{ range: 'day' }] })

const count = z.int().min(0)
const counts = {
  calls: count.describe('attempts that reached the provider'),
  failed: count.describe('of these: without a usable response, or broken off'),
  rejected: count.describe('of these: refused because of the request itself; not a failure of the provider'),
  fallbacks: count.describe('calls that another provider answered after this one failed or was skipped'),
  p50Ms: count
    .nullable()
    .describe('median latency in milliseconds, to the first chunk or to the whole response; null: no answers'),
  p95Ms: count.nullable(),
}

const testExample = {
  id: 'tst_example',
  provider: 'simulated',
  product: exampleIds.product,
  model: 'swift-1',
  requestedAt: '2026-11-20T09:30:00.000Z',
  state: 'waiting',
  service: null,
  latencyMs: null,
  failure: null,
}

/** A test call: the smallest request to the model of a route, charged to no wallet. */
export const providerTest = z
  .strictObject({
    id,
    provider: z.string(),
    product: id,
    model: z.string().describe('the name of the model at the provider'),
    requestedAt: time,
    state: z
      .enum(['waiting', 'running', 'succeeded', 'failed', 'expired'])
      .describe('expired: no process with this provider took it within a minute, or the one that did has ended'),
    service: z.enum(['gateway', 'worker']).nullable().describe('that made the call; null: none has taken it'),
    latencyMs: count.nullable().describe('to the whole response, or to the failure; null: it has not ended'),
    failure: z
      .strictObject({
        kind: z.string().describe('unreachable, refused, timeout, garbage, too_large, busy or circuit_open'),
        status: z.int().nullable().describe('HTTP status of the provider'),
        code: z.string().nullable().describe("the provider's own error code"),
      })
      .nullable(),
  })
  .meta({
    examples: [testExample],
  })
export type ProviderTest = z.infer<typeof providerTest>

export const newProviderTest = z
  .strictObject({
    provider: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/),
    product: id.describe('a chat or embedding product with a route to the provider'),
  })
  .meta({ examples: [{ provider: 'simulated', product: exampleIds.product }] })

const circuit = z.enum(['closed', 'half-open', 'open'])

const example = {
  provider: 'simulated',
  kind: 'openai-compatible',
  calls: 120,
  failed: 3,
  rejected: 1,
  fallbacks: 2,
  p50Ms: 410,
  p95Ms: 1_900,
  processes: [
    {
      service: 'gateway',
      startedAt: '2026-11-20T08:00:00.000Z',
      credential: 'file',
      credentialChangedAt: '2026-11-01T08:00:00.000Z',
      circuit: 'closed',
      circuitSince: '2026-11-20T08:00:00.000Z',
    },
  ],
  deployments: [
    {
      model: 'swift-1',
      product: exampleIds.product,
      isRouted: true,
      calls: 120,
      failed: 3,
      rejected: 1,
      fallbacks: 2,
      p50Ms: 410,
      p95Ms: 1_900,
    },
  ],
  steps: [{ at: '2026-11-20T09:00:00.000Z', calls: 120, failed: 3, rejected: 1 }],
  tests: [testExample],
  failures: [
    {
      at: '2026-11-20T09:12:31.250Z',
      model: 'swift-1',
      product: exampleIds.product,
      kind: 'refused',
      status: 503,
      code: 'overloaded_error',
      call: null,
    },
  ],
}
export const providerHealth = z
  .strictObject({
    provider: z.string(),
    kind: z.string().nullable().describe('null: no running process has it configured'),
    ...counts,
    processes: z
      .array(
        z.strictObject({
          service: z.enum(['gateway', 'worker']),
          startedAt: time.describe('when it read the credential'),
          credential: z
            .enum(['configuration', 'environment', 'file', 'aws_chain', 'none'])
            .describe('where its key is from; aws_chain: the default chain of the AWS SDK'),
          credentialChangedAt: time.nullable().describe('when the file of its key was changed; null: not from a file'),
          circuit: circuit.describe('state of its circuit breaker; closed also after three minutes without calls'),
          circuitSince: time,
        }),
      )
      .describe('running processes that have it configured'),
    deployments: z
      .array(
        z.strictObject({
          model: z.string().describe('the name of the model at the provider'),
          product: id,
          isRouted: z.boolean().describe('whether the product still names it'),
          ...counts,
        }),
      )
      .describe('by model and product: those with calls, and those that a product names'),
    steps: z
      .array(z.strictObject({ at: time, calls: count, failed: count, rejected: count }))
      .describe('in order, without empty ones'),
    tests: z.array(providerTest).max(5).describe('test calls of the last hour, newest first'),
    failures: z
      .array(
        z.strictObject({
          at: time,
          model: z.string(),
          product: id,
          kind: z.string().describe('unreachable, refused, timeout, cut, garbage or too_large'),
          status: z.int().nullable().describe('HTTP status of the provider'),
          code: z.string().nullable().describe("the provider's own error code"),
          call: z
            .strictObject({ tenant: id, project: id, invocation: id })
            .nullable()
            .describe('null: the reader has no role on its project'),
        }),
      )
      .max(10)
      .describe('the last ones in the range, newest first'),
  })
  .meta({ examples: [example] })
export type ProviderHealth = z.infer<typeof providerHealth>

export const providersReport = z
  .strictObject({
    range: providerRange,
    from: time.describe('start of the first slot of five minutes'),
    to: time,
    stepMs: z.int().describe('length of a step'),
    data: z.array(providerHealth),
  })
  .meta({
    examples: [
      {
        range: 'hour',
        from: '2026-11-20T08:30:00.000Z',
        to: '2026-11-20T09:32:10.000Z',
        stepMs: 300_000,
        data: [example],
      },
    ],
  })
export type ProvidersReport = z.infer<typeof providersReport>
