import type { ConsoleDeps } from '../deps.ts'

const MAX_PROJECTS = 1000

/**
 * Answers once no call of these projects can still be admitted on what was true before. A revocation answers after its commit
 * and after this (architecture §M2). Where the ledger can't be asked the caller learns `unavailable`: what was
 * revoked stays revoked, and repeating passes the barrier again.
 */
export async function passBarrier({ ledger }: Pick<ConsoleDeps, 'ledger'>, projects: readonly string[]): Promise<void> {
  const ordered = [...new Set(projects)].toSorted()
  for (let n = 0; n < ordered.length; n += MAX_PROJECTS)
    await ledger.barrier({ projects: ordered.slice(n, n + MAX_PROJECTS) })
}
