import { z } from 'zod'
import type { ExecutionStatus } from './execution.ts'
import type { FlowPackage, Graph, GraphProblem } from './graph.ts'
import { keyLimits } from './limits.ts'
import type { RefusalBody } from './refusal.ts'

// The shapes of the console API, `/api/v2` (decisions.md, 7). Bodies are strict: an unknown field is `invalid_request`.
// Money is an integer of micro-USD, a price a decimal string of USD, a time ISO 8601 in UTC.

// Postgres can't hold U+0000, and a name with control characters could forge a line of a log or a screen.
const isPlain = (text: string) => text.isWellFormed() && !/\p{Cc}/u.test(text)
const isPlainParagraph = (text: string) => text.isWellFormed() && !/[^\P{Cc}\n\t]/u.test(text)

const label = (max: number) => z.string().trim().min(1).max(max).refine(isPlain, 'must not hold control characters')
const paragraph = (max: number) =>
  z.string().trim().max(max).refine(isPlainParagraph, 'must not hold control characters')
const id = z.string().min(1).max(128).refine(isPlain, 'must not hold control characters')
const time = z.string().describe('ISO 8601, UTC')
const micro = z.int().describe('micro-USD')
const tokens = z.int().min(1).max(10_000_000)
const usd = z.string().regex(/^\d{1,7}(\.\d{1,12})?$/, 'must be a decimal string of USD with at most 12 places')

/** An id in a path or query: whatever holds a control character names nothing of ours. */
export const pathId = id

/** What every list answers. */
export interface Page<Item> {
  data: Item[]
  /** Sent back as `cursor` for what comes after; null at the end. */
  nextCursor: string | null
}
export const pageQuery = z.strictObject({
  cursor: id.optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
})

// ---------------------------------------------------------------------------------------------------------- people

export const tenantRole = z.enum(['Admin', 'Member'])
export const teamRole = z.enum(['Team Owner', 'Team Member'])
export const projectRole = z.enum(['Project Owner', 'Project Consumer', 'Project Viewer'])
export type TenantRole = z.infer<typeof tenantRole>
export type TeamRole = z.infer<typeof teamRole>
export type ProjectRole = z.infer<typeof projectRole>

const email = z.string().trim().toLowerCase().max(254).pipe(z.email())
const password = z.string().min(12).max(256)

export const signInBody = z.strictObject({ email, password: z.string().min(1).max(256) })

/** What the page needs to know before anybody is signed in. */
export const signInMethods = z.strictObject({
  baseUrl: z.string().nullable().describe('where the models are called; null: at the address of the console'),
  provider: z
    .strictObject({ path: z.string(), isReached: z.boolean() })
    .nullable()
    .describe('where a browser goes to sign in through OpenID Connect'),
})
export type SignInMethods = z.infer<typeof signInMethods>

/** `current` is needed once a password has been set. */
export const passwordBody = z.strictObject({ password, current: z.string().max(256).optional() })

const named = z.strictObject({ id, name: z.string() })
export const meRecord = z.strictObject({
  id,
  email: z.string(),
  name: z.string(),
  platformOperator: z.boolean(),
  tenants: z.array(
    named.extend({
      role: tenantRole,
      teams: z.array(named.extend({ role: teamRole })),
      projects: z.array(named.extend({ role: projectRole })),
    }),
  ),
})
export type MeRecord = z.infer<typeof meRecord>

export const newTokenBody = z.strictObject({ name: label(100), expiresInDays: z.int().min(1).max(365).default(90) })
export const tokenRecord = z.strictObject({
  id,
  name: z.string(),
  prefix: z.string(),
  createdAt: time,
  expiresAt: time.nullable(),
})
export type TokenRecord = z.infer<typeof tokenRecord>

export const newTenantBody = z.strictObject({ name: label(100) })
export const tenantRecord = named.extend({ createdAt: time })
export type TenantRecord = z.infer<typeof tenantRecord>

/** A person is named by e-mail or by id; `name` and `password` are for one whom the service doesn't know yet. */
export const newMemberBody = z
  .strictObject({
    email: email.optional(),
    person: id.optional(),
    role: tenantRole.default('Member'),
    name: label(100).optional(),
    password: password.optional(),
  })
  .superRefine(({ email, person, name, password }, context) => {
    const problem = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
    if (email === undefined && person === undefined) problem('email', 'is needed')
    if (person === undefined) return
    for (const [field, value] of Object.entries({ email, name, password }))
      if (value !== undefined) problem(field, 'does not go with person')
  })
export const memberRecord = z.strictObject({
  id: id.describe('of the person'),
  email: z.string(),
  name: z.string(),
  role: tenantRole,
  createdAt: time,
})
export type MemberRecord = z.infer<typeof memberRecord>

export const newTeamBody = z.strictObject({ name: label(100) })
export const teamRecord = named.extend({ createdAt: time })
export type TeamRecord = z.infer<typeof teamRecord>

export const newTeamMemberBody = z.strictObject({ person: id, role: teamRole.default('Team Member') })
export const teamMemberRecord = memberRecord.extend({ role: teamRole })
export type TeamMemberRecord = z.infer<typeof teamMemberRecord>

export const auditRecord = z.strictObject({
  id,
  at: time,
  person: id.nullable(),
  action: z.string(),
  subject: z.string(),
  details: z.record(z.string(), z.unknown()),
})
export type AuditRecord = z.infer<typeof auditRecord>

// -------------------------------------------------------------------------------------------------------- projects

export const newProjectBody = z.strictObject({ name: label(100), team: id.optional() })
export const projectRecord = named.extend({ team: id, createdAt: time })
export type ProjectRecord = z.infer<typeof projectRecord>

export const newGrantBody = z.strictObject({ person: id, role: projectRole })
export const grantRecord = memberRecord.extend({ role: projectRole })
export type GrantRecord = z.infer<typeof grantRecord>

export const assignmentRecord = z.strictObject({ product: id, createdBy: id.nullable(), createdAt: time })
export type AssignmentRecord = z.infer<typeof assignmentRecord>

// ------------------------------------------------------------------------------------------------------------ keys

export const keyState = z.enum(['Active', 'Expired', 'Revoked', 'Rotated', 'NeedsReissue'])
export type KeyState = z.infer<typeof keyState>

const spendingLimit = z.strictObject({
  micro: z.int().min(keyLimits.limitMicro.min).max(keyLimits.limitMicro.max),
  reset: z.enum(['daily', 'weekly', 'monthly', 'lifetime']),
})

/** Spec 2.1, 8.3. `project` is checked apart: leaving it out is 422 `project_required`. */
export const newKeyBody = z
  .strictObject({
    project: id,
    name: label(100).default('Key'),
    policy: z.enum(['all-eligible', 'listed']).default('all-eligible'),
    resources: z.array(id).min(1).max(1000).optional(),
    limit: spendingLimit.nullable().default(null),
    expiresInDays: z
      .int()
      .min(keyLimits.expiryDays.min)
      .max(keyLimits.expiryDays.max)
      .default(keyLimits.expiryDays.default),
  })
  .superRefine(({ policy, resources }, context) => {
    const problem = (message: string) => context.addIssue({ code: 'custom', path: ['resources'], message })
    if (policy === 'listed' && !resources) problem('is needed with the policy listed')
    if (policy === 'all-eligible' && resources) problem('only goes with the policy listed')
  })

export const keyRecord = z.strictObject({
  id,
  name: z.string(),
  project: id.nullable().describe('null: a legacy key, unbound for ever'),
  prefix: z.string().describe('the first 12 characters of the secret'),
  state: keyState,
  policy: z.enum(['all-eligible', 'listed']),
  resources: z.array(id).describe('the allowlist of a listed key'),
  limit: spendingLimit.nullable(),
  createdBy: id,
  createdAt: time,
  expiresAt: time.nullable(),
  lastUsedAt: time.nullable(),
  rotatedFrom: id.nullable(),
  rotatedTo: id.nullable(),
})
export type KeyRecord = z.infer<typeof keyRecord>

export const keyQuery = pageQuery.extend({ project: id.optional() })
export const rotateBody = z.strictObject({ graceSeconds: z.int().min(0).max(86_400).default(0) })

// ----------------------------------------------------------------------------------------------------------- money

export const fundingBody = z.strictObject({
  fundingId: z.string().regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 visible ASCII characters'),
  micro: z.int().min(1).max(Number.MAX_SAFE_INTEGER),
})

const day = 86_400_000
const moment = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .refine((date) => date.getUTCFullYear() >= 1970 && date.getUTCFullYear() < 9999, 'must be from 1970 to 9998')
export const usageQuery = z
  .strictObject({
    from: moment.optional(),
    to: moment.optional(),
    by: z.enum(['model', 'key', 'day']).default('model'),
  })
  .refine(({ from, to }) => !from || !to || (from < to && to.getTime() - from.getTime() <= 400 * day), {
    path: ['from'],
    error: 'must be before to, by at most 400 days',
  })

export const usageReport = z.strictObject({
  from: time,
  to: time,
  by: z.enum(['model', 'key', 'day']),
  data: z.array(
    z.strictObject({
      group: z.string().nullable().describe('a model id, a key id or a day such as 2026-11-20; null: by no key'),
      calls: z.int(),
      promptTokens: z.int(),
      completionTokens: z.int(),
      chargedMicro: micro,
    }),
  ),
  totalMicro: micro,
})
export type UsageReport = z.infer<typeof usageReport>

export const productPricing = z.discriminatedUnion('unit', [
  z.strictObject({ unit: z.literal('tokens'), prompt: usd, completion: usd }),
  z.strictObject({ unit: z.literal('request'), request: usd }),
])
export type ProductPricing = z.infer<typeof productPricing>

export const invocationRecord = z.strictObject({
  id,
  key: id.nullable().describe('null: a person runs a sandbox product in the console'),
  model: id,
  execution: id.nullable().describe('the run that made the call'),
  node: id.nullable().describe('the node of its graph'),
  state: z.enum(['Open', 'Settled', 'Released']),
  promptTokens: z.int().nullable(),
  completionTokens: z.int().nullable(),
  estimated: z.boolean(),
  pricing: productPricing.describe('as it was when the call was admitted'),
  reservedMicro: micro,
  chargedMicro: micro,
  createdAt: time,
})
export type InvocationRecord = z.infer<typeof invocationRecord>

// ------------------------------------------------------------------------------------------------------- catalogue

const productId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/, 'must be 1 to 128 of letters, digits and . _ : / -')
  .refine((text) => !text.startsWith('sbx-'), 'must not start with sbx-, which names sandbox products')
const parameterName = z.string().regex(/^[a-z_]{1,64}$/)
const modality = z.enum(['text', 'image', 'audio', 'file', 'video'])

const productFields = {
  name: label(100),
  description: paragraph(2000),
  ownedBy: label(100).describe('the publisher, never a provider'),
  state: z.enum(['draft', 'published', 'suspended']),
  contextLength: tokens,
  maxOutputTokens: tokens,
  supportedParameters: z.array(parameterName).max(64),
  modalities: z.strictObject({ input: z.array(modality).min(1), output: z.array(modality).min(1) }),
  isModerated: z.boolean(),
  tokenizer: z.enum(['o200k_base', 'cl100k_base']).nullable(),
  overheads: z.strictObject({
    tokensPerByte: z.number().min(0.000001).max(1),
    perMessage: z.int().min(0).max(10_000),
    perTool: z.int().min(0).max(10_000),
    fixedWithTools: z.int().min(0).max(100_000),
    maxTokensPerImage: z.int().min(1).max(100_000).nullable().describe('null: image parts are refused'),
  }),
  pricing: productPricing,
}
/** Where calls go, by priority. The platform operator's alone. */
const providers = z
  .array(
    z.strictObject({
      provider: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/),
      model: label(256),
      priority: z.int().min(0).max(1000),
    }),
  )
  .min(1)
  .max(16)

export const productKind = z.enum(['chat', 'image', 'audio'])
export type ProductKind = z.infer<typeof productKind>

/** What a product is unless it says otherwise. The bound of a prompt is a token a byte and these tokens besides. */
export const productDefaults = {
  overheads: { tokensPerByte: 1, perMessage: 8, perTool: 16, fixedWithTools: 64, maxTokensPerImage: null },
  supportedParameters: ['max_tokens', 'temperature', 'top_p', 'stop', 'stream', 'stream_options'],
  modalities: {
    chat: { input: ['text'], output: ['text'] },
    image: { input: ['text'], output: ['image'] },
    audio: { input: ['text'], output: ['audio'] },
  },
} as const

export const newProductBody = z.strictObject({
  id: productId,
  kind: productKind,
  ...productFields,
  description: productFields.description.default(''),
  state: productFields.state.default('draft'),
  supportedParameters: productFields.supportedParameters.default([...productDefaults.supportedParameters]),
  modalities: productFields.modalities.optional(),
  isModerated: z.boolean().default(false),
  tokenizer: productFields.tokenizer.default(null),
  overheads: productFields.overheads.default({ ...productDefaults.overheads }),
  providers,
})
export const productPatch = z.strictObject({ ...productFields, providers }).partial()

export const productRecord = z.strictObject({
  id: z.string(),
  kind: productKind,
  ...productFields,
  providers: providers.optional().describe('shown to the platform operator only'),
  createdAt: time,
})
export type ProductRecord = z.infer<typeof productRecord>

// ------------------------------------------------------------------------------------------------------- sandboxes

const sandboxFields = {
  name: label(100),
  description: paragraph(2000),
  mcpEnabled: z.boolean(),
  suspended: z.boolean().describe('true: nobody can call it from outside'),
}
export const newSandboxBody = z.strictObject({
  ...sandboxFields,
  description: sandboxFields.description.default(''),
  mcpEnabled: z.boolean().default(false),
  suspended: z.boolean().default(false),
})
export const sandboxPatch = z.strictObject(sandboxFields).partial()
export const sandboxRecord = z.strictObject({
  id: id.describe('starts with sbx-'),
  ...sandboxFields,
  project: id,
  activeRevision: z.int().nullable().describe('null: none was activated yet'),
  latestRevision: z.int().describe('0: none was saved yet'),
  createdAt: time,
})
export type SandboxRecord = z.infer<typeof sandboxRecord>

/** `graph` is checked apart: what is no graph is 400, what is wrong with one is told whole (decisions.md, 6). */
export const newRevisionBody = z.strictObject({
  graph: z.unknown(),
  draft: z.boolean().default(false),
  baseRevision: z.int().min(0).nullable().default(null).describe('the latest revision that the author knows of'),
})

/** `graph` is as it was saved; `package` has the bytes that its digest is of. */
export interface RevisionRecord {
  number: number
  draft: boolean
  baseRevision: number | null
  /** Hex SHA-256 of the package; null where the graph has problems. */
  digest: string | null
  graph: Graph
  problems: GraphProblem[]
  package: FlowPackage | null
  createdBy: string
  createdAt: string
}

export const executeBody = z.strictObject({
  input: z
    .custom<Record<string, unknown>>(isObject, 'expected an object that fits the contract')
    .meta({ type: 'object', description: 'fits the input of the sandbox product' }),
  revision: z.int().min(1).nullable().default(null).describe('null: the active one'),
})

/** A run in a list; its output and nodes are in its own record. */
export interface ExecutionSummary {
  id: string
  object: 'sandbox.execution'
  sandbox: string
  revision: number
  project: string
  status: ExecutionStatus
  error: RefusalBody | null
  chargedMicro: number
  createdAt: string
  startedAt: string | null
  completedAt: string | null
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
