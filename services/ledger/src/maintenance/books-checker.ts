import { checkBooks, type Report, formatFinding } from '../check/check-books.ts'
import type { Deps } from '../deps.ts'
import type { CheckRound } from '../metrics.ts'
import { endTurn, keepTurn, lastReport, takeTurn, type Turn } from './maintenance-turn.ts'
import { takeAnchor } from '../check/anchor.ts'
import { recheckWallets } from '../check/recheck-wallets.ts'

// One replica checks the books for all; the others report its result in their metrics.

type CheckerDeps = Pick<Deps, 'reads' | 'metrics' | 'log' | 'now' | 'replicaId'>

const TURN_MS = 30_000
/** Of one round, in its log line. */
const MAX_ERRORS = 20

export function openBooksChecker(deps: CheckerDeps, { everyMs }: { everyMs: number }) {
  // Slightly less than `everyMs`, because a round starts `everyMs` after the end of the one before.
  const turn: Turn = { job: 'books-check', replica: deps.replicaId, forMs: TURN_MS, everyMs: everyMs * 0.9 }
  return {
    async runOnce(): Promise<{ findings: number }> {
      if (await takeTurn(deps, turn)) return checkInTurn(deps, turn)
      await reportLast(deps, turn)
      return { findings: 0 } // logged by the replica that found them
    },
  }
}

async function reportLast(deps: CheckerDeps, { job }: Turn): Promise<void> {
  const last = await lastReport(deps, job)
  if (last !== null) deps.metrics.checked(JSON.parse(last) as CheckRound)
}

/** @throws AggregateError of the parts that could not be checked, after all were tried */
async function checkInTurn(deps: CheckerDeps, turn: Turn): Promise<{ findings: number }> {
  let round: CheckRound | null = null // null: unknown
  const errors: Error[] = []
  const failed = (error: Error) => {
    if (errors.length < MAX_ERRORS) errors.push(error)
  }
  try {
    const report = await checkBooks(deps.reads, { before: keepingTurn(deps, turn), failed })
    log(deps, report)
    const findings = report.findings.length
    // What could not be checked may have findings, so none of the others is not a result.
    if (errors.length === 0 || findings > 0) round = { wallets: report.wallets, findings }
    if (round) deps.metrics.checked(round)
    else await reportLast(deps, turn).catch(() => {}) // what was found before may still be so
    if (errors.length > 0) throw new AggregateError(errors, 'some of the books could not be checked')
    return { findings }
  } finally {
    await endTurn(deps, turn, round && JSON.stringify(round), round !== null && errors.length === 0)
  }
}

function log({ log }: CheckerDeps, { findings }: Report): void {
  for (const finding of findings) log.error({ finding: formatFinding(finding) }, 'books do not add up')
}

/** Extends the turn while the round continues. @throws Error once another replica has it */
function keepingTurn(deps: CheckerDeps, turn: Turn): () => Promise<void> {
  let keptMs = deps.now()
  return async () => {
    if (deps.now() - keptMs < turn.forMs / 3) return
    keptMs = deps.now()
    if (!(await keepTurn(deps, turn))) throw new Error('another replica checks the books: this one was too slow')
  }
}

// One replica rechecks older parts of the books for all, then anchors them. The log line is the anchor, because the log
// is not in this database.

const RECHECK_MS = 60_000

export function openBooksRechecker(
  deps: Pick<Deps, 'reads' | 'metrics' | 'log' | 'newId'>,
  { everyMs }: { everyMs: number },
) {
  const { reads, metrics, log } = deps
  // Slightly less than `everyMs`, because a round starts `everyMs` after the end of the one before.
  const turn: Turn = { job: 'books-recheck', replica: deps.newId('rep'), forMs: RECHECK_MS, everyMs: everyMs * 0.9 }

  async function reportLastFound(): Promise<void> {
    const last = await lastReport({ reads }, turn.job)
    if (last !== null) metrics.rechecked(JSON.parse(last) as number)
  }

  /** @throws AggregateError of the wallets that could not be rechecked and of the anchor, after all was tried */
  async function recheckInTurn(): Promise<number> {
    let found: number | null = null
    const errors: unknown[] = []
    try {
      const { findings, open, errors: failed } = await recheckWallets(reads)
      for (const finding of findings) log.error({ finding: formatFinding(finding) }, 'books do not add up')
      found = open
      metrics.rechecked(found)
      errors.push(...failed)
    } catch (error) {
      errors.push(error)
      await reportLastFound().catch(() => {}) // what was found before may still be so
    }
    try {
      const anchor = await takeAnchor(reads)
      if (anchor !== null) log.info({ anchor: anchor.text, wallets: anchor.wallets }, 'books anchored')
    } catch (error) {
      errors.push(error)
    }
    await endTurn(deps, turn, found === null ? null : JSON.stringify(found), errors.length === 0)
    if (errors.length > 0) throw new AggregateError(errors, 'wallets could not be rechecked or anchored')
    return found ?? 0
  }

  return {
    async runOnce(): Promise<{ findings: number }> {
      if (await takeTurn(deps, turn)) return { findings: await recheckInTurn() }
      await reportLastFound()
      return { findings: 0 } // logged by the replica that found them
    },
  }
}
