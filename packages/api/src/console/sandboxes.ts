import { z } from 'zod'
import { exampleIds, exampleValues } from '../example-ids.ts'
import { graphExample, inputExample, sideInPackage } from '../execution-examples.ts'
import { ceilingMicro, executionStates } from '../execution.ts'
import { flowPackage, graph, graphProblem } from '../graph.ts'
import { id, label, micro, paragraph, time } from './fields.ts'
import { timedQuery } from './page.ts'

const runnerVersion = '1'
const digest = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'

const sandboxFields = {
  name: label(100),
  description: paragraph(2000),
  tags: z
    .array(label(32).refine((tag) => !tag.includes(','), 'must not hold a comma'))
    .max(10)
    .refine((tags) => new Set(tags).size === tags.length, 'must not repeat a tag')
    .describe('labels that its project sorts it by'),
  mcpEnabled: z.boolean(),
  suspended: z.boolean().describe('true: it cannot be called from outside'),
}
export const newSandboxBody = z
  .strictObject({
    ...sandboxFields,
    description: sandboxFields.description.default(''),
    tags: sandboxFields.tags.default([]),
    mcpEnabled: z.boolean().default(false),
    suspended: z.boolean().default(false),
  })
  .meta({ examples: [{ name: 'Summary', description: 'Writes about a topic.', tags: ['writing'], mcpEnabled: true }] })
export const sandboxPatch = z
  .strictObject(sandboxFields)
  .partial()
  .meta({ examples: [{ description: 'Writes about a topic.' }] })
export const sandboxRecord = z
  .strictObject({
    id: id.describe('starts with sbx-'),
    ...sandboxFields,
    project: id,
    activeRevision: z.int().nullable().describe('null: none activated yet'),
    activePackage: z
      .strictObject({
        digest: z.string().describe('SHA-256 of the package, hex'),
        runnerVersion: z.string(),
        manifest: z.array(z.string()).describe('the products that its nodes call'),
        builtAt: time,
      })
      .nullable()
      .describe('package built from the active revision, which serves calls; null: none activated yet'),
    latestRevision: z.int().describe('0: none saved yet'),
    createdAt: time,
  })
  .meta({
    examples: [
      {
        id: exampleIds.sandbox,
        name: 'Summary',
        description: 'Writes about a topic.',
        tags: ['writing'],
        mcpEnabled: true,
        suspended: false,
        project: exampleIds.project,
        activeRevision: 1,
        activePackage: {
          digest,
          runnerVersion,
          manifest: [exampleIds.product],
          builtAt: '2026-11-20T09:00:00.000Z',
        },
        latestRevision: 1,
        createdAt: '2026-11-20T09:00:00.000Z',
      },
    ],
  })
export type SandboxRecord = z.infer<typeof sandboxRecord>

/** Executions of one sandbox product that its success rate is counted over, at most. */
export const MAX_COUNTED_EXECUTIONS = 1_000

const inThirtyDays = `of the last 30 days, at most the newest ${MAX_COUNTED_EXECUTIONS}`
export const sandboxActivity = z
  .strictObject({
    sandbox: id,
    lastExecution: z
      .strictObject({ id, status: z.enum(executionStates), createdAt: time })
      .nullable()
      .describe('null: no execution is kept'),
    ended: z.int().describe(`executions ${inThirtyDays}, that have ended`),
    succeeded: z.int().describe('those of them that succeeded'),
    chargedMicro: micro.describe('charges of the last 30 days'),
  })
  .meta({
    examples: [
      {
        sandbox: exampleIds.sandbox,
        lastExecution: { id: exampleIds.execution, status: 'Succeeded', createdAt: '2026-11-20T09:00:00.000Z' },
        ended: 50,
        succeeded: 49,
        chargedMicro: 6350,
      },
    ],
  })
export type SandboxActivity = z.infer<typeof sandboxActivity>

/** A body that is not a graph is 400; the problems of a graph are reported all at once (flows §2.7). */
export const newRevisionBody = z
  .strictObject({
    graph,
    draft: z.boolean().default(false),
    baseRevision: z.int().min(0).nullable().default(null).describe('the latest revision known to the author'),
  })
  .meta({ examples: [{ graph: graphExample }] })

/**
 * The revision as it was saved; it never changes. Activation leaves it untouched, and the built package is in the
 * sandbox record. `package` has the bytes that the digest covers.
 */
export const revisionRecord = z
  .strictObject({
    number: z.int().min(1),
    draft: z.boolean(),
    baseRevision: z.int().min(0).nullable(),
    digest: z.string().nullable().describe('SHA-256 of the package, hex; null if the graph has problems'),
    graph,
    problems: z.array(graphProblem),
    warnings: z.array(graphProblem).describe('what is allowed and rarely meant; activation ignores it'),
    package: flowPackage.nullable(),
    createdBy: z.string(),
    createdAt: time,
  })
  .meta({
    examples: [
      {
        number: 1,
        draft: false,
        baseRevision: null,
        digest,
        graph: graphExample,
        problems: [],
        warnings: [],
        package: {
          runnerVersion,
          graph: graphExample,
          input: sideInPackage(graphExample.input),
          output: sideInPackage(graphExample.output),
          manifest: [exampleIds.product],
        },
        createdBy: exampleIds.user,
        createdAt: '2026-11-20T09:00:00.000Z',
      },
    ],
  })
export type RevisionRecord = z.infer<typeof revisionRecord>

export const executeBody = z
  .strictObject({
    input: z
      .custom<Record<string, unknown>>(isObject, 'expected an object that fits the contract')
      .meta({ type: 'object', description: 'must match the input of the sandbox product' }),
    revision: z.int().min(1).max(2_147_483_647).nullable().default(null).describe('null: the active one'),
    maxMicro: ceilingMicro.nullable().default(null),
  })
  .meta({ examples: [{ input: inputExample, maxMicro: 500 }] })

/** A rerun reuses the results of an earlier execution, except those of this node and the nodes below it. */
export const rerunBody = z
  .strictObject({
    from: z.string().min(1).max(256).describe('the ID of a node: it and all nodes after it run again'),
    revision: z
      .int()
      .min(1)
      .max(2_147_483_647)
      .nullable()
      .default(null)
      .describe('a revision that does not differ in any reused node; null: the revision of the earlier execution'),
    maxMicro: ceilingMicro.nullable().default(null),
  })
  .meta({ examples: [{ from: 'draft' }] })

export const estimateInputBody = executeBody.omit({ maxMicro: true }).meta({ examples: [{ input: inputExample }] })

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const executionState = z.enum(executionStates).optional().describe('current status')

/** Filters on the executions of a sandbox product. */
export const executionsQuery = timedQuery({
  state: executionState,
  revision: z.coerce.number().int().min(1).max(2_147_483_647).optional(),
}).meta({ examples: [{ state: 'Succeeded', from: exampleValues.from, to: exampleValues.to, limit: 20 }] })

/** Filters on the executions of a project. */
export const projectExecutionsQuery = timedQuery({ state: executionState, sandbox: id.optional() }).meta({
  examples: [
    {
      sandbox: exampleIds.sandbox,
      state: 'Succeeded',
      from: exampleValues.from,
      to: exampleValues.to,
      limit: 20,
    },
  ],
})
