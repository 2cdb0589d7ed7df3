import type { ConsoleDeps } from '../needs.ts'

/** Answers once no call of these projects can still be admitted on what was true before. */
export type PassBarrier = (projects: readonly string[]) => Promise<void>

const MOST_AT_ONCE = 1000

/**
 * A revocation answers after its commit and after this (architecture.md, money core 2). Where the ledger can't be asked the
 * caller learns `unavailable`: what was revoked stays revoked, and repeating passes the barrier again.
 */
export function barrierPasser({ ledger }: Pick<ConsoleDeps, 'ledger'>): PassBarrier {
  return async (projects) => {
    const ordered = [...new Set(projects)].toSorted()
    for (let n = 0; n < ordered.length; n += MOST_AT_ONCE)
      await ledger.barrier({ projects: ordered.slice(n, n + MOST_AT_ONCE) })
  }
}
