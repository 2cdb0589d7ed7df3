import type { StartAnswer, StartQuestion } from '@gateway/ledger-protocol/flow-reads'
import { refused, type Refused } from '@gateway/ledger-protocol/ledger-refusal'
import { type Reset, resetsAt } from '@gateway/pricing/spending-window'
import { type KeyRefusalCode, keyRefused } from '../../keys/read-caller.ts'
import { callFunction } from '@gateway/database/call-function'
import type { Database } from '@gateway/database/client'

// Whether an execution may start, in the order of rules §2.3. In three steps, because the input is checked between
// the last two. A repeat passes the first step only: wallet, window and revision are never asked again.

type Started = Extract<StartAnswer, { kind: 'started' }>

/** Key, issuer, selector, target and allowlist; then what was begun before. null: continue. */
export function decideCaller(question: StartQuestion, facts: StartFacts): Started | Refused | null {
  const { caller, sandbox, surface, idempotency } = question
  const byKey = 'keyHash' in caller
  const { project } = facts
  if (facts.refusal !== null)
    return keyRefused(facts.refusal, facts.rotatedTo, facts.expiredAt === null ? null : new Date(facts.expiredAt))
  if (project === null) return refused('key_invalid', {})
  if (byKey && caller.selector !== null && caller.selector !== project) return refused('project_mismatch', { project })
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

/** The revision, what it calls, and for a chat the contract. null: continue. */
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
  if (revision.digest === null) return null // the caller of this says what is wrong with it
  if (unassigned !== null) return refused('product_not_assigned', { product: unassigned })
  if (surface === 'chat' && revision.chatInput === null) return refused('sandbox_contract', { sandbox: id })
  return null
}

/** Whether it is there at all as a model (rules §3.5). */
function isModel({ sandbox, unassigned }: StartFacts): boolean {
  return sandbox !== null && !sandbox.suspended && sandbox.active !== null && unassigned === null
}

/** The window where the flow pays for anything, the wallet whether it does or not, and room. null: it may start. */
export function decideMeans(facts: StartFacts, openExecutions: number): Refused | null {
  const { limit, available, reserved, open } = facts
  if (facts.revision!.paidNodes > 0 && limit !== null && limit.micro - limit.spent - limit.reserved <= 0)
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
  return open >= openExecutions ? refused('overloaded', {}) : null
}

/**
 * All that decides whether an execution may start, as money.read_starts reads it at one moment. Money in micro-USD.
 */
export interface StartFacts {
  /** Of the key or of the user; null: of a key that is not known or not bound. */
  project: string | null
  /** Of the key as such; null: it is valid, or a user asks. */
  refusal: KeyRefusalCode | null
  key: string | null
  lineage: string | null
  rotatedTo: string | null
  expiredAt: string | null
  limit: { micro: number; reset: Reset; windowStart: string; spent: number; reserved: number } | null
  /** null: the project has none of this id. */
  sandbox: { suspended: boolean; active: number | null } | null
  /** The one that is named, or the active one. */
  revision: {
    number: number
    /** Of the package that it would run now; null: its graph has problems, and it has none. */
    digest: string | null
    paidNodes: number
    chatInput: string | null
    chatOutput: string | null
  } | null
  /** The first of what a listed key must list and doesn't. */
  unlisted: string | null
  /** The first product of the manifest that the project can't call. */
  unassigned: string | null
  /** The execution that was begun with this very id. */
  asked: { execution: string; project: string; sandbox: string; revision: number; textField: string | null } | null
  /** What was begun under this idempotency key. `revision` null: it is forgotten. */
  earlier: { execution: string; fingerprint: string; revision: number | null; textField: string | null } | null
  reserved: number
  available: number
  /** Executions of the project that have not ended; counted up to the cap. */
  open: number
}

/** Reads what decides about each question, in their order. */
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

/** Within what an idempotency key names one thing, alongside the project (rules §5.1). */
export function scopeOf({ surface, sandbox }: Pick<StartQuestion, 'surface' | 'sandbox'>): string {
  return surface === 'chat' ? 'chat' : sandbox
}
