import { takeAnchor } from '../check/anchor.ts'
import { sayFinding } from '../check/check-books.ts'
import { recheckWallets } from '../check/recheck-wallets.ts'
import type { Deps } from '../deps.ts'
import { endTurn, lastTurn, takeTurn, type Turn } from './maintenance-turn.ts'

// One replica looks again at older parts of the books for all, and then anchors them: the line in the log is the anchor,
// because the log is not in this database.

const TURN_MS = 60_000

export function openBooksRechecker(
  deps: Pick<Deps, 'reads' | 'metrics' | 'log' | 'newId'>,
  { everyMs }: { everyMs: number },
) {
  const { reads, metrics, log } = deps
  // A little less than its time, because a round begins `everyMs` after the one before has ended.
  const turn: Turn = { job: 'books-recheck', replica: deps.newId('rep'), forMs: TURN_MS, everyMs: everyMs * 0.9 }

  async function recheckInTurn(): Promise<number> {
    let found: number | null = null
    try {
      const { findings } = await recheckWallets(reads)
      for (const finding of findings) log.error({ finding: sayFinding(finding) }, 'the books do not add up')
      found = findings.length
      const anchor = await takeAnchor(reads)
      if (anchor !== null) log.info({ anchor: anchor.text, wallets: anchor.wallets }, 'the books were anchored')
      return found
    } finally {
      await endTurn(deps, turn, found === null ? null : JSON.stringify(found))
    }
  }

  return {
    async runOnce(): Promise<{ findings: number }> {
      if (await takeTurn(deps, turn)) {
        const findings = await recheckInTurn()
        metrics.rechecked(findings)
        return { findings }
      }
      const last = await lastTurn(deps, turn.job)
      if (last) metrics.rechecked(JSON.parse(last.report) as number)
      return { findings: 0 } // told by the replica that found them
    },
  }
}
