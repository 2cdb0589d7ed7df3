import { refuse, type Refusal, type RefusalCode } from '@gateway/contracts/refusal'
import { insufficientBudget, keyLimit, type MoneyFacts } from './money-refusals.ts'

/** Why a call was not admitted, as the ledger says it. */
export interface RefusedAdmission {
  code: RefusalCode
  facts: Record<string, unknown>
}

/**
 * Says what the ledger decided about the call of a node (decisions.md, 1), to be the node's error.
 * Throws for a code that no node's call can be refused with.
 * @param product which it calls
 */
export function refusalOfAdmission({ code, facts }: RefusedAdmission, product: string): Refusal {
  const say = OUTCOMES[code]
  if (!say) throw new Error(`the ledger refused with ${code}, which no call of a node can be refused with`)
  return say(facts as unknown as Facts, product)
}

/** Which of them are there depends on the code. */
interface Facts extends MoneyFacts {
  rotatedTo: string | null
  param: string
  promptTokens: number
  outputCap: number
  contextLength: number
  maxOutputTokens: number
}

const OUTCOMES: Record<string, (facts: Facts, product: string) => Refusal> = {
  key_revoked: ({ rotatedTo }) =>
    refuse('key_revoked', { rotatedTo: rotatedTo ?? null }, rotatedTo ? { details: { rotatedTo } } : {}),
  key_issuer_denied: () => refuse('key_issuer_denied', { use: true }),
  not_permitted: () => refuse('not_permitted', { need: 'the right to invoke in this project' }),
  product_not_assigned: (_, product) => refuse('product_not_assigned', { product }),
  key_scope: (_, resource) => refuse('key_scope', { resource }),
  unsupported_parameter: ({ param }) => unsupported(param),
  images_unsupported: noImages,
  context_limit: contextLimit,
  key_limit: keyLimit,
  insufficient_budget: insufficientBudget,
}

/** Only the ledger and who asks it know this code and the next one; outside they are `invalid_request`. */
function unsupported(param: string): Refusal {
  const reason = `${param}: this model does not support it.`
  const resolution = `Leave ${param} out of the node's params, or use a model that lists it in its supported_parameters.`
  return refuse('invalid_request', { reason, resolution }, { param })
}

function noImages(): Refusal {
  const reason = 'image: this model takes no images.'
  const resolution = 'Leave the image port of the node unwired, or use a model that takes images.'
  return refuse('invalid_request', { reason, resolution }, { param: 'image' })
}

function contextLimit({ promptTokens, outputCap, contextLength, maxOutputTokens }: Facts): Refusal {
  const facts = { contextLength, maxOutputTokens, promptTokens, outputCap }
  return refuse('context_limit', facts, { details: facts })
}
