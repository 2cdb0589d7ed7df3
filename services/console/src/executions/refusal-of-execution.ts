import type { StartAnswer } from '@gateway/contracts/flow-reads'
import { refuse, type FactsOf, type Refusal, type RefusalCode, type RefusalExtras } from '@gateway/contracts/refusal'

type Refused = Extract<StartAnswer, { refused: object }>['refused']

const RETRY_AFTER_MS = 1_000

/** What a caller may read of a refusal's facts besides its text. */
const shown: Partial<Record<RefusalCode, (facts: Record<string, unknown>) => RefusalExtras>> = {
  graph_invalid: (facts) => ({ param: 'revision', details: facts }),
  input_type: (facts) => ({ param: 'input', details: facts }),
  revision_not_active: () => ({ param: 'revision' }),
  insufficient_budget: (facts) => ({ details: facts }),
  overloaded: () => ({ retryAfterMs: RETRY_AFTER_MS }),
  unavailable: () => ({ retryAfterMs: RETRY_AFTER_MS }),
}

/** Says to a person what the ledger decided about an execution (decisions.md, 1). */
export function refusalOfExecution({ code, facts }: Refused): Refusal {
  return refuse(code, facts as FactsOf<RefusalCode>, shown[code]?.(facts) ?? {})
}
