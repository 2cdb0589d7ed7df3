import type { StartAnswer, StartQuestion } from '@gateway/ledger-protocol/flow-reads'
import { refused, type Refused } from '@gateway/ledger-protocol/ledger-refusal'
import { type Reset, resetsAt } from '@gateway/pricing/spending-window'
import { type KeyRefusalCode, keyRefused } from '../../keys/read-caller.ts'
import { callFunction } from '@gateway/database/call-function'
import { quotaFacts, quotaOf, type QuotaValues } from '@gateway/api/quotas'
import type { Database } from '@gateway/database/client'
import type { Values } from '@gateway/api/execution'
import type { ContractSide } from '@gateway/api/graph'
import { flowLimits, sandboxModelLimits } from '@gateway/api/limits'
import { type FieldFault, valueTypeOf } from '@gateway/flow/contract'
import { portFit } from '@gateway/flow/json-text'
import { listedAssets } from '../../assets/assets.ts'
import type { Flow } from '../cache/flow.ts'

// Decides whether an execution may start, in the order of rules §2.3. In three steps, because the input is checked
// between the last two. A repeat passes the first step only: wallet, window and revision are not checked again.

type Started = Extract<StartAnswer, { kind: 'started' }>

/** Checks key, issuer, selector, target and allowlist, then whether it was started before. null: continue. */
export function decideCaller(question: StartQuestion, facts: StartFacts): Started | Refused | null {
  const { caller, sandbox, surface, idempotency } = question
  const byKey = 'keyHash' in caller
  const { project } = facts
  if (facts.refusal !== null)
    return keyRefused(facts.refusal, facts.rotatedTo, facts.expiredAt === null ? null : new Date(facts.expiredAt))
  if (project === null) return refused('key_invalid', {})
  if (byKey && caller.selector !== null && caller.selector !== project) return refused('project_mismatch', { project })
  if (facts.tag !== null && (question.tag ?? facts.tag) !== facts.tag)
    return refused('tag_mismatch', { tag: facts.tag })
  if (facts.sandbox === null && surface === 'invoke') return refused('sandbox_not_found', { sandbox })
  if (facts.sandbox === null || (surface === 'chat' && facts.unlisted !== null && !isModel(facts)))
    return refused('model_not_found', { model: sandbox })
  if (facts.unlisted !== null) return refused('key_scope', { resource: facts.unlisted })

  const { asked, earlier } = facts
  const started = { kind: 'started' as const, project, sandbox, key: facts.key }
  if (asked !== null) {
    if (asked.project !== project || asked.sandbox !== sandbox)
      throw new Error(`${asked.execution} is another execution`)
    return {
      ...started,
      execution: asked.execution,
      revision: asked.revision,
      replayed: false,
      textField: asked.textField,
    }
  }
  if (earlier === null || idempotency === null) return question.repeatOnly ? refused('rate_limited', { project }) : null
  if (earlier.fingerprint !== idempotency.fingerprint) return refused('idempotency_mismatch', {})
  if (earlier.revision === null) return refused('answer_not_kept', {})
  return {
    ...started,
    execution: earlier.execution,
    revision: earlier.revision,
    replayed: true,
    textField: earlier.textField,
  }
}

/** Checks the revision, the products it calls, and for a chat the contract. null: continue. */
export function decideRevision(
  { caller, sandbox: id, surface, revision: named }: StartQuestion,
  facts: StartFacts,
): Refused | null {
  const { suspended, active } = facts.sandbox!
  const { revision, unassigned } = facts
  const notActive = { revision: named, activeRevision: active, suspended }
  if ('keyHash' in caller) {
    if (surface === 'chat' && !isModel(facts)) return refused('model_not_found', { model: id })
    if (suspended || active === null) return refused('revision_not_active', notActive)
    if (named !== null && named !== active) return refused('revision_not_active', notActive)
  }
  if (revision === null) return refused('revision_not_active', { ...notActive, suspended: false })
  if (revision.digest === null) return null // the caller of this function reports the problems
  if (unassigned !== null) return refused('product_not_assigned', { product: unassigned })
  if (surface === 'chat' && revision.chatInput === null) return refused('sandbox_contract', { sandbox: id })
  return null
}

/** Returns whether it is available as a model (rules §3.5). */
function isModel({ sandbox, unassigned }: StartFacts): boolean {
  return sandbox !== null && !sandbox.suspended && sandbox.active !== null && unassigned === null
}

/**
 * Checks the spending window if the flow has paid nodes, the wallet always, the values that executions of the project
 * keep, and open executions. Of the window only what is spent counts: nodes wait for what running calls have reserved
 * (money §6.3). null: it may start.
 */
export function decideMeans(facts: StartFacts, openExecutions: number, quotas: QuotaValues): Refused | null {
  const { limit, available, reserved, open, kept, ownQuota } = facts
  if (facts.revision!.paidNodes > 0 && limit !== null && limit.micro - limit.spent <= 0)
    return refused('key_limit', {
      reset: limit.reset,
      resetsAt: resetsAt(limit.reset, limit.windowStart),
      limitMicro: limit.micro,
      spentMicro: limit.spent,
      reservedMicro: limit.reserved,
      neededMicro: 1,
    })
  if (available <= 0)
    return refused('insufficient_budget', {
      availableMicro: available,
      reservedMicro: reserved,
      neededMicro: 1,
      affordableMaxTokens: 0,
    })
  const quota = quotaOf('executionBytes', quotas, { executionBytes: ownQuota ?? undefined })
  if (kept >= quota) return refused('quota_reached', quotaFacts('executionBytes', quota, kept))
  return open >= openExecutions ? refused('overloaded', {}) : null
}

/**
 * All facts that decide whether an execution may start, read by money.read_starts in one snapshot. Money in micro-USD.
 */
export interface StartFacts {
  /** Of the key or of the user; null: the key is unknown or not bound. */
  project: string | null
  /** Of the key itself; null: the key is valid, or the caller is a user. */
  refusal: KeyRefusalCode | null
  key: string | null
  lineage: string | null
  /** Of the key; null: it has none, or the caller is a user. */
  tag: string | null
  rotatedTo: string | null
  expiredAt: string | null
  limit: { micro: number; reset: Reset; windowStart: string; spent: number; reserved: number } | null
  /** null: the project has no such sandbox product. */
  sandbox: { suspended: boolean; active: number | null } | null
  /** The named revision, or the active one. */
  revision: {
    number: number
    /** Of the package that it would run now; null: its graph has problems, so it has no package. */
    digest: string | null
    paidNodes: number
    chatInput: string | null
    chatOutput: string | null
  } | null
  /**
   * The first resource that is missing from the key's allowlist, of what the execution would call, or if it was started
   * before, of what it calls; null: none.
   */
  unlisted: string | null
  /** The first product of the manifest that the project can't call; null: none. */
  unassigned: string | null
  /** The execution already started under this id. */
  asked: { execution: string; project: string; sandbox: string; revision: number; textField: string | null } | null
  /** The execution already started under this idempotency key. `revision` is null if it was deleted. */
  earlier: { execution: string; fingerprint: string; revision: number | null; textField: string | null } | null
  reserved: number
  available: number
  /** Bytes of values that executions of the project keep, up to some seconds ago. */
  kept: number
  /** The project's own quota of them; null: the default. */
  ownQuota: number | null
  /** Number of the project's open executions, counted up to the limit. */
  open: number
}

/** Reads the facts for each question, in their order. */
export async function readStarts(
  { sql }: Pick<Database, 'sql'>,
  questions: readonly StartQuestion[],
  openExecutions: number,
): Promise<StartFacts[]> {
  const row = await callFunction(sql, 'money.read_starts', {
    questions: questions.map(({ id, caller, sandbox, revision, idempotency }, n) => ({
      id,
      sandbox,
      revision,
      ...('keyHash' in caller ? { keyHash: caller.keyHash } : { project: caller.project }),
      scope: scopeOf(questions[n]!),
      idempotencyKey: idempotency?.key,
    })),
    max_open: openExecutions,
  })
  return JSON.parse(row.facts) as StartFacts[]
}

/** Returns the scope of an idempotency key within the project (rules §5.1). */
export function scopeOf({ surface, sandbox }: Pick<StartQuestion, 'surface' | 'sandbox'>): string {
  return surface === 'chat' ? 'chat' : sandbox
}

/**
 * Returns the values of the input node by field, as they are to be stored, or what is wrong with them
 * (flows §1.3, §4.7).
 */
export async function readInput(
  { prisma }: Pick<Database, 'prisma'>,
  { surface, input }: Pick<StartQuestion, 'surface' | 'input'>,
  facts: StartFacts,
  flow: Flow,
): Promise<{ values: Values } | Refused> {
  if (surface === 'chat' && !portFit(input).ok) return contextLimit(Buffer.byteLength(input as string))
  const given = surface === 'chat' ? { [facts.revision!.chatInput!]: input } : input
  const checked = flow.checkInput.check(given)
  if (!checked.ok) return refused('input_type', { fields: checked.fields })
  const { values } = checked
  const large = Object.entries(values).filter(([, value]) => !portFit(value).ok)
  if (large.length > 0)
    return inputType(large.map(([field]) => ({ field, message: `is larger than ${flowLimits.portBytes} bytes` })))
  return putAssets({ prisma }, flow.package.input, values, facts)
}

/**
 * Replaces each image and audio value with the asset stored under its id, regardless of what else the caller says of
 * it. An asset of another project, or that the key may not read, is treated as missing.
 */
async function putAssets(
  { prisma }: Pick<Database, 'prisma'>,
  { properties }: ContractSide,
  values: Values,
  { project, key }: Pick<StartFacts, 'project' | 'key'>,
): Promise<{ values: Values } | Refused> {
  const named = Object.entries(properties).flatMap(([field, is]) => {
    const [type, value] = [valueTypeOf(is), values[field]]
    return (type === 'image' || type === 'audio') && value
      ? [{ field, type, id: (value as { asset: string }).asset }]
      : []
  })
  if (named.length === 0) return { values }
  const where = { id: { in: named.map(({ id }) => id) }, project: project!, deletedAt: null }
  const found = await prisma.asset.findMany({ where })
  const assets = key === null ? found : await listedAssets({ prisma }, key, found)
  const faults: FieldFault[] = []
  const put: Values = { ...values }
  for (const { field, type, id } of named) {
    const asset = assets.find((each) => each.id === id)
    if (!asset) faults.push({ field, message: 'names no asset of this project' })
    else if (!asset.mimeType.startsWith(`${type}/`))
      faults.push({ field, message: `names an asset that is no ${type}` })
    else put[field] = { asset: asset.id, mimeType: asset.mimeType, bytes: asset.bytes }
  }
  return faults.length > 0 ? inputType(faults) : { values: put }
}

function inputType(fields: FieldFault[]): Refused {
  return refused('input_type', { fields })
}

/** For a chat client, a text that is too long does not fit the model, in the tokens that it publishes (rules §4.4). */
function contextLimit(bytes: number): Refused {
  const { contextLength, maxOutputTokens, bytesPerToken } = sandboxModelLimits
  const promptTokens = Math.ceil(bytes / bytesPerToken)
  const facts = { contextLength, maxOutputTokens, promptTokens, outputCap: maxOutputTokens }
  return refused('context_limit', { ...facts, anyOutput: true })
}

/** Returned only to a user who names a draft in the console. */
export async function refuseGraph(
  { prisma }: Pick<Database, 'prisma'>,
  sandbox: string,
  number: number,
): Promise<Refused> {
  const revision = await prisma.revision.findUniqueOrThrow({
    where: { sandbox_number: { sandbox, number } },
    select: { problems: true },
  })
  return refused('graph_invalid', {
    problems: JSON.parse(Buffer.from(revision.problems).toString()) as { message: string }[],
  })
}
