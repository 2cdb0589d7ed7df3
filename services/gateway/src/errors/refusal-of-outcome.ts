import type { ModelsAnswer } from '@gateway/contracts/ledger-reads'
import { refuse, type Refusal } from '@gateway/contracts/refusal'
import { insufficientBudget, isoSeconds, keyLimit, type MoneyFacts } from '@gateway/tokens/money-refusals'

/** What the ledger says when it refuses. */
export type RefusedOutcome = Extract<ModelsAnswer, { refused: object }>['refused']

/**
 * Says to the caller what the ledger decided (decisions.md, 1). Throws for a code that no call can be refused with.
 * @param target the field of the request that names what is called; null where its path does
 */
export function refusalOfOutcome({ code, facts }: RefusedOutcome, target: 'model' | null = 'model'): Refusal {
  const say = OUTCOMES[code]
  if (!say) throw new Error(`the ledger refused with ${code}, which no call can be refused with`)
  return say(facts as unknown as Facts, target === null ? {} : { param: target })
}

/** Facts as money.run_batch_v1 gives them; which of them are there depends on the code. */
interface Facts extends MoneyFacts {
  rotatedTo: string | null
  expiredAt: string
  project: string
  model: string
  resource: string
  param: string
  promptTokens: number
  outputCap: number
  contextLength: number
  maxOutputTokens: number
  sandbox: string
  execution: string
  asset: string
  revision: number | null
  activeRevision: number | null
  suspended: boolean
  fields: { field: string; message: string }[]
}

const RETRY_AFTER_MS = 1_000

const OUTCOMES: Record<string, (facts: Facts, at: { param?: string }) => Refusal> = {
  key_invalid: () => refuse('key_invalid', {}),
  key_revoked: ({ rotatedTo }) =>
    refuse('key_revoked', { rotatedTo }, rotatedTo === null ? {} : { details: { rotatedTo } }),
  key_expired: ({ expiredAt }) => refuse('key_expired', { expiredAt: isoSeconds(Date.parse(expiredAt)) }),
  key_unbound: () => refuse('key_unbound', {}),
  key_issuer_denied: () => refuse('key_issuer_denied', { use: true }),
  project_mismatch: ({ project }) => refuse('project_mismatch', { project }),
  model_not_found: ({ model }) => refuse('model_not_found', { model }, { param: 'model' }),
  sandbox_not_found: ({ sandbox }) => refuse('sandbox_not_found', { sandbox }),
  execution_not_found: ({ execution }) => refuse('execution_not_found', { execution }),
  asset_not_found: ({ asset }) => refuse('asset_not_found', { asset }),
  key_scope: ({ resource }, at) => refuse('key_scope', { resource }, at),
  sandbox_contract: ({ sandbox }) => refuse('sandbox_contract', { sandbox }, { param: 'model' }),
  revision_not_active: revisionNotActive,
  input_type: ({ fields }, { param }) =>
    refuse('input_type', { fields }, { param: param === 'model' ? 'messages' : 'input', details: { fields } }),
  idempotency_mismatch: () => refuse('idempotency_mismatch', {}),
  answer_not_kept: () => refuse('answer_not_kept', {}),
  unsupported_parameter: ({ param }) => unsupported(param),
  images_unsupported: noImages,
  context_limit: contextLimit,
  key_limit: keyLimit,
  insufficient_budget: insufficientBudget,
  overloaded: () => refuse('overloaded', {}, { retryAfterMs: RETRY_AFTER_MS }),
  unavailable: () => refuse('unavailable', {}, { retryAfterMs: RETRY_AFTER_MS }),
}

/** Only ledger and gateway know this code and the next one; outside they are `invalid_request`, with the field at fault. */
function unsupported(param: string): Refusal {
  const reason = `${param}: this model does not support it.`
  const resolution = `Leave ${param} out, or use a model that lists it in supported_parameters of GET /v1/models.`
  return refuse('invalid_request', { reason, resolution }, { param })
}

function noImages(): Refusal {
  const reason = 'messages: this model takes no images.'
  const resolution = 'Send text alone, or use a model that lists image in its input_modalities of GET /v1/models.'
  return refuse('invalid_request', { reason, resolution }, { param: 'messages' })
}

function contextLimit({ promptTokens, outputCap, contextLength, maxOutputTokens }: Facts): Refusal {
  const facts = { contextLength, maxOutputTokens, promptTokens, outputCap }
  return refuse('context_limit', facts, {
    param: outputCap > maxOutputTokens ? 'max_tokens' : 'messages',
    details: facts,
  })
}

function revisionNotActive({ revision, activeRevision, suspended }: Facts): Refusal {
  const facts = { revision, activeRevision, suspended }
  return refuse('revision_not_active', facts, { ...(revision !== null && { param: 'revision' }), details: facts })
}
