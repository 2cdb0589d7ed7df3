import type { LedgerConfig } from '../config.ts'
import type { Deps, KeyUses } from '../deps.ts'
import { openSignsOfLife, type SignsOfLife } from '../instances/signs-of-life.ts'
import { cleanRetention, expireAssets, expireContent } from './retention-cleaner.ts'
import { openBooksChecker, openBooksRechecker } from './books-checker.ts'
import { enforceDeadlines, requeueJobs, rescueNodes } from './execution-rescuer.ts'
import { planPartitions } from './partition-planner.ts'
import { openReservationReaper } from './reservation-reaper.ts'
import { rollUpUsage } from './usage-roll-up.ts'
import type { Logger } from '@gateway/service-kit/process/logger'
import { callFunction } from '@gateway/database/call-function'
import { forgetKeptItems, takeKeptItems, type KeptItem } from '../quarantine/kept-items.ts'

/** Everything that a replica does by itself, and how often. Each job may run on any number of replicas concurrently. */
export function maintenanceJobs(
  deps: Deps,
  config: Pick<LedgerConfig, 'MAX_CONCURRENT_NODES' | 'CHECK_EVERY_SECONDS' | 'RELEASE_GRACE_MS'>,
): MaintenanceJob[] {
  // Each job has its connections: nothing delays the jobs that monitor instances (start.ts).
  const watching = { ...deps, reads: deps.heartbeats }
  const upkeep = { ...deps, reads: deps.maintenance }
  const checkEveryMs = config.CHECK_EVERY_SECONDS * 1_000
  const signsOfLife = openSignsOfLife(watching)
  const booksChecker = openBooksChecker(upkeep, { everyMs: checkEveryMs })
  const booksRechecker = openBooksRechecker(upkeep, { everyMs: checkEveryMs })
  const reservationReaper = openReservationReaper(watching, { graceMs: config.RELEASE_GRACE_MS })
  return [
    // A worker is dead after three seconds of silence, and its nodes must run again within five. Two jobs, because a
    // monitor that waited for the rescue of nodes would be late, and silence would count again.
    { name: 'instance-monitor', everyMs: 250, runOnce: () => monitorInstances(watching, signsOfLife) },
    { name: 'node-rescuer', everyMs: 250, runOnce: () => rescueNodes(watching) },
    { name: 'deadline-enforcer', everyMs: 1_000, runOnce: () => enforceDeadlines(upkeep) },
    {
      name: 'job-requeuer',
      everyMs: 1_000,
      runOnce: () => requeueJobs(upkeep, { maxConcurrentNodes: config.MAX_CONCURRENT_NODES }),
    },
    { name: 'reservation-reaper', everyMs: 2_000, runOnce: reservationReaper.runOnce },
    { name: 'quarantine-retrier', everyMs: 1_000, runOnce: () => retryQuarantined(upkeep) },
    { name: 'usage-roll-up', everyMs: 2_000, runOnce: () => rollUpUsage(upkeep) },
    { name: 'days-left-monitor', everyMs: 3_600_000, atOnce: true, runOnce: () => notifyDaysLeft(upkeep) },
    { name: 'partition-planner', everyMs: 600_000, atOnce: true, runOnce: () => planPartitions(upkeep) },
    { name: 'retention-cleaner', everyMs: 3_600_000, atOnce: true, runOnce: () => cleanRetention(upkeep) },
    { name: 'asset-retention', everyMs: 60_000, atOnce: true, runOnce: () => expireAssets(upkeep) },
    { name: 'content-retention', everyMs: 60_000, atOnce: true, runOnce: () => expireContent(upkeep) },
    { name: 'key-uses', everyMs: 10_000, runOnce: () => writeNoted(deps.keyUses) },
    { name: 'kept-bytes', everyMs: 5_000, runOnce: () => writeNoted(deps.keptBytes) },
    { name: 'books-check', everyMs: checkEveryMs, runOnce: () => booksChecker.runOnce() },
    { name: 'books-recheck', everyMs: checkEveryMs, runOnce: () => booksRechecker.runOnce() },
  ]
}

/** Returns no count: it always has work, which is not worth logging. */
async function writeNoted(noted: Pick<KeyUses, 'write'>): Promise<Record<string, number>> {
  await noted.write()
  return {}
}

export interface MaintenanceJob {
  name: string
  everyMs: number
  /** Run at once, instead of after `everyMs`. */
  atOnce?: boolean
  /** Returns what it has done, counted by name; nothing is logged if all counts are 0. */
  runOnce(): Promise<Record<string, number>>
}

/**
 * Runs a job repeatedly, never twice at once. A failure is logged, and the job retries in its next turn. Returns a
 * function that stops it.
 */
export function repeatJob({ log }: { log: Logger }, job: MaintenanceJob): () => Promise<void> {
  const { name, everyMs, atOnce = false, runOnce } = job
  let stopped = false
  let running: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined

  async function run(): Promise<void> {
    try {
      const counts = await runOnce()
      if (Object.values(counts).some((count) => count > 0)) log.info({ job: name, ...counts }, 'maintenance')
    } catch (error) {
      log.warn({ err: error, job: name }, 'maintenance job failed, will retry')
    }
  }

  function next(afterMs: number): void {
    if (stopped) return
    timer = setTimeout(() => {
      running = run().then(() => next(everyMs))
    }, afterMs)
    timer.unref()
  }

  next(atOnce ? 0 : everyMs)
  return async () => {
    stopped = true
    clearTimeout(timer)
    await running
  }
}

/** Creates notices for wallets whose runway is shorter than the days their users have set (money §10.1). */
export async function notifyDaysLeft({ reads }: Pick<Deps, 'reads'>): Promise<{ notices: number }> {
  return callFunction(reads.sql, 'money.notify_days_left', {})
}

/**
 * Checks once the instances that send heartbeats to this replica, and ends those that have fallen silent. Time in which
 * no heartbeat could be received does not count as silence; the rules are in
 * prisma/functions/money/monitor_instances.sql. For instances taken over from a dead replica, it listens for signs of
 * life.
 */
export async function monitorInstances(
  { reads, replicaId }: Pick<Deps, 'reads' | 'replicaId'>,
  signsOfLife: SignsOfLife,
): Promise<{ ended: number; silenceRestarted: number; takenOver: number }> {
  const row = await callFunction(reads.sql, 'money.monitor_instances', { by_monitor: replicaId })
  await signsOfLife.follow(row.taken_over)
  return { ended: row.ended, silenceRestarted: row.silence_restarted, takenOver: row.taken_over }
}

// Resubmits kept settlements and completions (quarantine/kept-items.ts) as ordinary items. Most of them are answered at
// once from memory; one in a while is tried. Once one of a project succeeds, all the others of it follow.

const MAX_ITEMS = 20
const BUDGET_MS = 10_000

type RetrierDeps = Pick<Deps, 'reads' | 'quarantine' | 'admissionBatcher' | 'nodeBatcher'>

export async function retryQuarantined(deps: RetrierDeps): Promise<{ written: number }> {
  let written = 0
  for (;;) {
    const kept = await takeKeptItems(deps, MAX_ITEMS)
    const kinds = await Promise.all(kept.map(({ item }) => submit(deps, item)))
    const decided = kept.filter((_, n) => kinds[n] !== 'undecided' && kinds[n] !== 'quarantined')
    if (decided.length > 0) await forgetKeptItems(deps, decided)
    written += decided.length
    if (decided.length === 0) return { written }
  }
}

async function submit({ admissionBatcher, nodeBatcher }: RetrierDeps, item: KeptItem): Promise<string> {
  const outcome =
    item.op === 'settle' ? await admissionBatcher.submit(item, BUDGET_MS) : await nodeBatcher.submit(item, BUDGET_MS)
  return outcome.kind
}
