import type { LedgerConfig } from '../config.ts'
import type { Deps } from '../deps.ts'
import { openSignsOfLife } from '../instances/signs-of-life.ts'
import { expireAssets } from './asset-retention.ts'
import { openBooksChecker } from './books-checker.ts'
import { openBooksRechecker } from './books-rechecker.ts'
import { enforceDeadlines } from './deadline-enforcer.ts'
import { monitorInstances } from './instance-monitor.ts'
import { requeueJobs } from './job-requeuer.ts'
import type { MaintenanceJob } from './maintenance-job.ts'
import { tellDaysLeft } from './days-left-monitor.ts'
import { sendNotices } from '../webhooks/send-notices.ts'
import { rescueNodes } from './node-rescuer.ts'
import { planPartitions } from './partition-planner.ts'
import { openReservationReaper } from './reservation-reaper.ts'
import { cleanRetention } from './retention-cleaner.ts'
import { retrySetAside } from './set-aside-retrier.ts'
import { rollUpUsage } from './usage-roll-up.ts'

/** Everything that a replica does by itself, and how often. Each job may run on any number of replicas at once. */
export function maintenanceJobs(
  deps: Deps,
  config: Pick<LedgerConfig, 'NODES_AT_ONCE' | 'CHECK_EVERY_SECONDS' | 'RELEASE_GRACE_MS'>,
): MaintenanceJob[] {
  // The connections of each job: nothing delays those that watch over the living (pools.ts).
  const watching = { ...deps, reads: deps.heartbeats }
  const upkeep = { ...deps, reads: deps.maintenance }
  const checkEveryMs = config.CHECK_EVERY_SECONDS * 1_000
  const signsOfLife = openSignsOfLife(watching)
  const booksChecker = openBooksChecker(upkeep, { everyMs: checkEveryMs })
  const booksRechecker = openBooksRechecker(upkeep, { everyMs: checkEveryMs })
  const reservationReaper = openReservationReaper(watching, { graceMs: config.RELEASE_GRACE_MS })
  return [
    // A worker is dead after three seconds of silence, and what it ran is to be under way again within five. Two jobs,
    // because a look that waited for the rescue of nodes would be late, and silence would count anew.
    { name: 'instance-monitor', everyMs: 250, runOnce: () => monitorInstances(watching, signsOfLife) },
    { name: 'node-rescuer', everyMs: 250, runOnce: () => rescueNodes(watching) },
    { name: 'deadline-enforcer', everyMs: 1_000, runOnce: () => enforceDeadlines(upkeep) },
    {
      name: 'job-requeuer',
      everyMs: 1_000,
      runOnce: () => requeueJobs(upkeep, { nodesAtOnce: config.NODES_AT_ONCE }),
    },
    { name: 'reservation-reaper', everyMs: 2_000, runOnce: reservationReaper.runOnce },
    { name: 'set-aside-retrier', everyMs: 1_000, runOnce: () => retrySetAside(upkeep) },
    { name: 'usage-roll-up', everyMs: 2_000, runOnce: () => rollUpUsage(upkeep) },
    { name: 'webhook-sender', everyMs: 1_000, runOnce: () => sendNotices(upkeep) },
    { name: 'days-left-monitor', everyMs: 3_600_000, atOnce: true, runOnce: () => tellDaysLeft(upkeep) },
    { name: 'partition-planner', everyMs: 600_000, atOnce: true, runOnce: () => planPartitions(upkeep) },
    { name: 'retention-cleaner', everyMs: 3_600_000, atOnce: true, runOnce: () => cleanRetention(upkeep) },
    { name: 'asset-retention', everyMs: 60_000, atOnce: true, runOnce: () => expireAssets(upkeep) },
    { name: 'key-uses', everyMs: 10_000, runOnce: () => writeKeyUses(deps) },
    { name: 'books-check', everyMs: checkEveryMs, runOnce: () => booksChecker.runOnce() },
    { name: 'books-recheck', everyMs: checkEveryMs, runOnce: () => booksRechecker.runOnce() },
  ]
}

/** Answers no count: it has work at all times, and that is no news. */
async function writeKeyUses({ keyUses }: Pick<Deps, 'keyUses'>): Promise<Record<string, number>> {
  await keyUses.write()
  return {}
}
