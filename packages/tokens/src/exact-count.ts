import type { ChatRequest } from '@gateway/api/chat-request'
import type { LedgerRefusal } from '@gateway/ledger-protocol/ledger-refusal'
import { type CountAtMost, minTokensOf } from './token-counter.ts'
import { everyPromptText } from './prompt-text.ts'

// The size of a prompt in bytes bounds its tokens at no cost; an exact count is needed only if that bound refuses
// (money §2.4).
//   E1  A count is never less than what a provider of that tokenizer counts for the text. Overheads are added by the
//       ledger.
//   E2  If no count could overturn the refusal, none is made: even a lower bound, which costs nothing either, does not
//       fit. A caller that waits for running calls counts unless it would not fit even once they have settled.
//   E3  If the count does not finish in time, nothing is estimated, and nothing is refused that a count could have
//       admitted.

/** The result for a refusal that was based on a bound. */
export type ExactCount =
  /** Maximum tokens of the prompt's text: ask the ledger again. */
  | { kind: 'counted'; tokens: number }
  /** No count could overturn it. */
  | { kind: 'stands' }
  /** There was no time to count. */
  | { kind: 'busy' }

export type CountExactly = (call: Asked, refused: LedgerRefusal) => Promise<ExactCount>

interface Asked {
  /** Whose share of the counting it uses if the refusal names no project. */
  payer: string
  request: Pick<ChatRequest, 'forwarded'>
}

/** Providers may join the texts with a line feed or a space. */
const TOKENS_BETWEEN = 1

/** @param waits whether the caller waits for what running calls have reserved, as nodes do (money §7.3) */
export function exactCounter(
  { countAtMost }: { countAtMost: CountAtMost },
  { waits = false }: { waits?: boolean } = {},
): CountExactly {
  return async ({ payer, request }, refused) => {
    const { tokenizer, project } = refused.facts
    if (!tokenizer) return { kind: 'stands' }
    const texts = everyPromptText(request.forwarded)
    if (!mayTurn(refused, texts, waits)) return { kind: 'stands' } // E2
    const tokens = await countAtMost({ project: project ?? payer, texts, family: tokenizer })
    return tokens === null ? { kind: 'busy' } : { kind: 'counted', tokens: tokens + TOKENS_BETWEEN * texts.length }
  }
}

/** Whether fewer prompt tokens could change the decision. */
function mayTurn({ code, facts }: LedgerRefusal, texts: string[], waits: boolean): boolean {
  if (code === 'context_limit') {
    const least = minTokensOf(texts) + TOKENS_BETWEEN * texts.length
    return facts.outputCap <= facts.maxOutputTokens && least + facts.outputCap <= facts.contextLength
  }
  // Only nodes have a ceiling, and they wait.
  if (code === 'ceiling_reached') return facts.chargedMicro + (facts.leastMicro ?? 0) <= facts.maxMicro
  // A refused start does not state the least cost of a call.
  if (code === 'key_limit' || code === 'budget_reached')
    return facts.spentMicro + (waits ? 0 : facts.reservedMicro) + (facts.leastMicro ?? 1) <= facts.limitMicro
  return (
    code === 'insufficient_budget' &&
    (facts.leastMicro ?? 1) <= facts.availableMicro + (waits ? facts.reservedMicro : 0)
  )
}
