import type { RefusedItem } from '@gateway/ledger-protocol/ledger-outcomes'

/** How long the ledger may take to decide an admission. After that nothing stays reserved, and nothing was called. */
export const ADMISSION_MS = 5_000

interface Asking<Outcome> {
  /** Asks the ledger. `counted`: exact tokens of the prompt's text; null if they were not counted. */
  ask: (counted: number | null) => Promise<Outcome>
  /** Counts, if a count could change this refusal. */
  count: (refused: RefusedItem) => Promise<{ kind: 'counted'; tokens: number } | { kind: 'stands' } | { kind: 'busy' }>
}

/**
 * Asks for an admission. If the prompt is refused for its size in bytes alone, its tokens are counted once, and the
 * ledger is asked again (money §2.4). The count is kept for later calls of the returned function. `uncounted`: time ran
 * out before the count, so it is not known whether the prompt fits.
 */
export function openAdmission<Outcome extends { kind: string } | null>({
  ask,
  count,
}: Asking<Outcome>): () => Promise<Outcome | { kind: 'uncounted' }> {
  let counted: number | null = null
  let mayCount = true
  return async () => {
    const outcome = await ask(counted)
    if (!mayCount || !isRefused(outcome)) return outcome
    const result = await count(outcome)
    if (result.kind === 'busy') return { kind: 'uncounted' }
    mayCount = false
    if (result.kind === 'stands') return outcome
    counted = result.tokens
    return ask(counted)
  }
}

function isRefused(outcome: { kind: string } | null): outcome is RefusedItem {
  return outcome?.kind === 'refused'
}
