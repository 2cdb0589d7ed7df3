import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { ChatRequest } from '@gateway/contracts/chat-request'
import type { LedgerRefusal } from '@gateway/contracts/ledger-refusal'
import { everyPromptText } from './prompt-text.ts'
import type { CountAtMost } from './token-counter.ts'

// The bytes of a prompt bound its tokens for nothing; a count is made only where that bound refuses (money §2.4).
//   E1  What is counted is never less than what a provider of that tokenizer counts for the text. Overheads are the ledger's.
//   E2  Counting costs time of a thread that all projects share, so a project has so many kilobytes of it in a while.
//   E3  What isn't counted, for whatever reason, isn't estimated: the refusal stands.

/** Tokens of the prompt's text at most, where a count may turn the refusal; null: it stands. */
export type CountExactly = (call: Asked, refused: LedgerRefusal) => Promise<number | null>

interface Asked {
  /** Whose share of the thread it is where the refusal names no project. */
  payer: string
  request: ChatRequest
}

interface Deps {
  countAtMost: CountAtMost
  /** What one project may have counted. */
  kilobytes?: { max: number; withinSeconds: number }
}

const KILOBYTES = { max: 2_500, withinSeconds: 10 }
/** Between the texts a provider may put a line feed or a blank. */
const TOKENS_BETWEEN = 1

export function exactCounter({ countAtMost, kilobytes = KILOBYTES }: Deps): CountExactly {
  const limiter = new RateLimiterMemory({ points: kilobytes.max, duration: kilobytes.withinSeconds })

  return async ({ payer, request }, refused) => {
    const { tokenizer, project } = refused.facts
    if (!tokenizer || !mayTurn(refused)) return null
    const weight = Math.ceil(request.promptSize.bytes / 1_000)
    if (!(await limiter.consume(project ?? payer, weight).catch(() => null))) return null // E2
    const texts = everyPromptText(request.forwarded)
    const tokens = await countAtMost(texts, tokenizer)
    return tokens === null ? null : tokens + TOKENS_BETWEEN * texts.length // E1, E3
  }
}

/** Whether fewer tokens of prompt could change the decision. */
function mayTurn({ code, facts }: LedgerRefusal): boolean {
  if (code === 'context_limit') return facts.outputCap <= facts.maxOutputTokens && facts.outputCap < facts.contextLength
  if (code === 'key_limit') return facts.spentMicro + facts.reservedMicro < facts.limitMicro
  return code === 'insufficient_budget' && facts.availableMicro > 0
}
