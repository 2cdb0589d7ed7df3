import { checkBooks, sayFinding } from '../check/check-books.ts'
import type { LedgerConfig } from '../config.ts'
import type { Deps } from '../deps.ts'
import { enforceDeadlines } from './deadline-enforcer.ts'
import { openInstanceMonitor } from './instance-monitor.ts'
import { requeueJobs } from './job-requeuer.ts'
import type { MaintenanceJob } from './maintenance-job.ts'
import { rescueNodes } from './node-rescuer.ts'
import { reapReservations } from './reservation-reaper.ts'
import { cleanRetention } from './retention-cleaner.ts'
import { retrySetAside } from './set-aside-retrier.ts'

/** Everything that a replica does by itself, and how often. Each job may run on any number of replicas at once. */
export function maintenanceJobs(
  deps: Deps,
  config: Pick<LedgerConfig, 'NODES_AT_ONCE' | 'CHECK_EVERY_SECONDS'>,
): MaintenanceJob[] {
  const instanceMonitor = openInstanceMonitor(deps)
  return [
    // A worker is dead after three seconds of silence, and what it ran is to be under way again within five: so both in one turn.
    {
      name: 'instance-monitor',
      everyMs: 500,
      runOnce: async () => ({ ...(await instanceMonitor.runOnce()), ...(await rescueNodes(deps)) }),
    },
    { name: 'deadline-enforcer', everyMs: 1_000, runOnce: () => enforceDeadlines(deps) },
    {
      name: 'job-requeuer',
      everyMs: 1_000,
      runOnce: () => requeueJobs(deps, { nodesAtOnce: config.NODES_AT_ONCE }),
    },
    { name: 'reservation-reaper', everyMs: 2_000, runOnce: () => reapReservations(deps) },
    { name: 'set-aside-retrier', everyMs: 1_000, runOnce: () => retrySetAside(deps) },
    { name: 'retention-cleaner', everyMs: 3_600_000, runOnce: () => cleanRetention(deps) },
    { name: 'key-uses', everyMs: 10_000, runOnce: () => writeKeyUses(deps) },
    { name: 'books-check', everyMs: config.CHECK_EVERY_SECONDS * 1_000, runOnce: () => checkAllBooks(deps) },
  ]
}

/** Answers no count: it has work at all times, and that is no news. */
async function writeKeyUses({ keyUses }: Pick<Deps, 'keyUses'>): Promise<Record<string, number>> {
  await keyUses.write()
  return {}
}

async function checkAllBooks({ reads, metrics, log }: Pick<Deps, 'reads' | 'metrics' | 'log'>) {
  const report = await checkBooks(reads)
  metrics.checked(report)
  for (const finding of report.findings) log.error({ finding: sayFinding(finding) }, 'the books do not add up')
  return { findings: report.findings.length }
}
