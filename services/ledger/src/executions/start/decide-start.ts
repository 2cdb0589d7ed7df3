import type { StartAnswer, StartQuestion } from '@gateway/contracts/flow-reads'
import { refused, type Refused } from '@gateway/contracts/ledger-refusal'
import { resetsAt } from '@gateway/money/spending-window'
import { keyRefused } from '../../keys/read-caller.ts'
import type { StartFacts } from './start-facts.ts'

// Whether an execution may start, in the order of rules §2.3. In three steps, because the input is checked between
// the last two. A repeat passes the first step only: wallet, window and revision are never asked again.

type Started = Extract<StartAnswer, { kind: 'started' }>

/** Key, issuer, selector, target and allowlist; then what was begun before. null: go on. */
export function decideCaller(question: StartQuestion, facts: StartFacts): Started | Refused | null {
  const { caller, sandbox, surface, idempotency } = question
  const byKey = 'keyHash' in caller
  const { project } = facts
  if (facts.refusal !== null)
    return keyRefused(facts.refusal, facts.rotatedTo, facts.expiredAt === null ? null : new Date(facts.expiredAt))
  if (project === null) return refused('key_invalid', {})
  if (byKey && caller.selector !== null && caller.selector !== project) return refused('project_mismatch', { project })
  if (facts.sandbox === null)
    return surface === 'chat'
      ? refused('model_not_found', { model: sandbox })
      : refused('sandbox_not_found', { sandbox })
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

/** The revision, and for a chat the contract. null: go on. */
export function decideRevision(
  { caller, sandbox: id, surface, revision: named }: StartQuestion,
  facts: StartFacts,
): Refused | null {
  const { suspended, active } = facts.sandbox!
  const { revision } = facts
  const notActive = { revision: named, activeRevision: active, suspended }
  if ('keyHash' in caller) {
    // As a model it is then not there at all (rules §3.5).
    if (suspended || active === null)
      return surface === 'chat' ? refused('model_not_found', { model: id }) : refused('revision_not_active', notActive)
    if (named !== null && named !== active) return refused('revision_not_active', notActive)
  }
  if (revision === null) return refused('revision_not_active', { ...notActive, suspended: false })
  if (revision.digest === null) return null // the caller of this says what is wrong with it
  if (surface === 'chat' && revision.chatInput === null) return refused('sandbox_contract', { sandbox: id })
  // An execution by a key meets it at the call itself (flows §4.2).
  if (!('keyHash' in caller) && facts.unassigned !== null)
    return refused('product_not_assigned', { product: facts.unassigned })
  return null
}

/** Money, where the flow pays for anything, and room. null: it may start. */
export function decideMeans(facts: StartFacts, openExecutions: number): Refused | null {
  const { limit, available, reserved, open } = facts
  if (facts.revision!.paidNodes > 0) {
    if (limit !== null && limit.micro - limit.spent - limit.reserved <= 0)
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
  }
  return open >= openExecutions ? refused('overloaded', {}) : null
}
