import type { ChatRequest } from '@gateway/api/chat-request'
import type { LedgerRefusal } from '@gateway/ledger-protocol/ledger-refusal'
import { type CountAtMost, minTokensOf } from './token-counter.ts'
import { everyPromptText } from './prompt-text.ts'

// The bytes of a prompt bound its tokens for nothing; a count is made only where that bound refuses (money §2.4).
//   E1  What is counted is never less than what a provider of that tokenizer counts for the text. Overheads are the ledger's.
//   E2  Where no count could turn the refusal, none is made: a lower bound, which costs nothing either, still does not fit.
//   E3  What could not be counted in time is not estimated, and nothing is refused for it that a count could have turned.

/** What became of a refusal that was decided by a bound. */
export type ExactCount =
  /** Tokens of the prompt's text at most: the ledger is to be asked again. */
  | { kind: 'counted'; tokens: number }
  /** No count could turn it. */
  | { kind: 'stands' }
  /** There was no time to count. */
  | { kind: 'busy' }

export type CountExactly = (call: Asked, refused: LedgerRefusal) => Promise<ExactCount>

interface Asked {
  /** Whose share of the counting it is where the refusal names no project. */
  payer: string
  request: ChatRequest
}

/** Between the texts a provider may put a line feed or a blank. */
const TOKENS_BETWEEN = 1

export function exactCounter({ countAtMost }: { countAtMost: CountAtMost }): CountExactly {
  return async ({ payer, request }, refused) => {
    const { tokenizer, project } = refused.facts
    if (!tokenizer) return { kind: 'stands' }
    const texts = everyPromptText(request.forwarded)
    if (!mayTurn(refused, texts)) return { kind: 'stands' } // E2
    const tokens = await countAtMost({ project: project ?? payer, texts, family: tokenizer })
    return tokens === null ? { kind: 'busy' } : { kind: 'counted', tokens: tokens + TOKENS_BETWEEN * texts.length }
  }
}

/** Whether fewer tokens of prompt could change the decision. */
function mayTurn({ code, facts }: LedgerRefusal, texts: string[]): boolean {
  if (code === 'context_limit') {
    const least = minTokensOf(texts) + TOKENS_BETWEEN * texts.length
    return facts.outputCap <= facts.maxOutputTokens && least + facts.outputCap <= facts.contextLength
  }
  // What siblings have reserved may yet be free: the node waits for it.
  if (code === 'ceiling_reached') return facts.chargedMicro + (facts.leastMicro ?? 0) <= facts.maxMicro
  // A refused start does not say what a call costs at least.
  if (code === 'key_limit') return facts.spentMicro + facts.reservedMicro + (facts.leastMicro ?? 1) <= facts.limitMicro
  return code === 'insufficient_budget' && (facts.leastMicro ?? 1) <= facts.availableMicro
}
