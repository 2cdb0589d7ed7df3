import { openDatabase, type Database } from '@gateway/database/client'
import { openTokenVerifier } from '@gateway/ledger-client/service-token'
import type { ServiceTools } from '@gateway/process/run-service'
import { ledgerApp } from './app.ts'
import { passBarrier } from './barrier.ts'
import { openAdmissionBatcher } from './batch/admission-batcher.ts'
import { batchRunner } from './batch/run-batch.ts'
import { checkBooks, sayFinding } from './check/check-books.ts'
import type { LedgerConfig } from './config.ts'
import { openFlowEngine } from './flows/open-flow-engine.ts'
import { followExecution } from './flows/records/follow-run.ts'
import { readExecution } from './flows/records/read-execution.ts'
import { fund } from './funding.ts'
import { recordHeartbeat, endInstance } from './instances.ts'
import { endSilent } from './maintenance/instance-monitor.ts'
import { expireAbandoned } from './maintenance/reservation-reaper.ts'
import { forgetOld } from './maintenance/retention-cleaner.ts'
import { startMaintenanceJob } from './maintenance/maintenance-job.ts'
import { openKeyUses } from './key-uses.ts'
import { openMetrics } from './metrics.ts'
import { readAsset, recordAsset } from './reads/assets.ts'
import { readKeyStatus } from './reads/key-status.ts'
import { readModels } from './reads/models.ts'
import { readSandbox } from './reads/sandbox.ts'
import { replayFinisher } from './reads/saved-answers.ts'
import { readUsage } from './reads/usage.ts'
import { readWallet } from './reads/wallet.ts'
import { openLedgerTrace } from './trace.ts'

const now = () => performance.now()

const EXPIRE_EVERY_MS = 2_000
/** A worker is dead after three seconds of silence, and what it ran is to be under way again within five. */
const END_SILENT_EVERY_MS = 500
const LOOK_AFTER_EXECUTIONS_EVERY_MS = 1_000
/** One for the batcher of items about nodes, one for the start of runs. */
const FLOW_CONNECTIONS = 2
const FORGET_EVERY_MS = 3_600_000
const NOTE_USES_EVERY_MS = 10_000

/** Builds the ledger: the books, the admission batcher on them, the notifier and the queue that they tell, the maintenance jobs beside them, and at last the door. */
export async function startLedger(config: LedgerConfig, tools: ServiceTools) {
  const { log, onStop, readiness } = tools
  const books = await open('admissionBatcher', config.BATCHES_IN_FLIGHT)
  const executions = await open('runs', FLOW_CONNECTIONS)
  const reads = await open('reads', config.READ_CONNECTIONS)

  async function open(name: string, poolSize: number): Promise<Database> {
    const database = await openDatabase({
      url: config.DATABASE_URL,
      poolSize,
      role: `ledger-${name}`,
      preparedStatements: config.PREPARED_STATEMENTS,
      onConnectionLost: (error) => log.warn({ err: error, pool: name }, 'a database connection was lost'),
    })
    onStop(`database ${name}`, () => database.close())
    return database
  }

  const metrics = openMetrics(tools.meter, log, now)
  const trace = tools.spans ? openLedgerTrace(tools.spans) : undefined
  const runBatch = batchRunner(books)
  const admissionBatcher = openAdmissionBatcher({
    runBatch: trace?.batch(runBatch) ?? runBatch,
    finishReplays: replayFinisher(reads),
    limits: {
      admissionBatcher: config.BATCHES_IN_FLIGHT,
      batchItems: config.BATCH_ITEMS,
      batchBytes: 1024 * 1024,
      waitingAdmissions: config.WAITING_ADMISSIONS,
    },
    now,
    observe: metrics,
  })
  metrics.watchAdmissionBatcher(admissionBatcher)
  metrics.watchReservations(reads)
  onStop('admissionBatcher', () => admissionBatcher.drain(), { limitMs: 5_000 })

  const uses = openKeyUses(reads)
  onStop('key uses', () => uses.write())

  const engine = openFlowEngine({
    executions,
    reads,
    config,
    noteUse: uses.note,
    metrics,
    onCharged: trace?.charged ?? null,
    log,
    onStop,
    now,
  })

  const forget = forgetOld(reads)
  await forget()
  const silence = endSilent(reads)
  const jobs = [
    startMaintenanceJob({
      name: 'end silent instances',
      everyMs: END_SILENT_EVERY_MS,
      log,
      work: async () => {
        await silence()
        await engine.reclaim()
      },
    }),
    startMaintenanceJob({
      name: 'end overdue runs',
      everyMs: LOOK_AFTER_EXECUTIONS_EVERY_MS,
      log,
      work: engine.endOverdue,
    }),
    startMaintenanceJob({
      name: 'ring again',
      everyMs: LOOK_AFTER_EXECUTIONS_EVERY_MS,
      log,
      work: engine.requeueLostJobs,
    }),
    startMaintenanceJob({
      name: 'expire abandoned',
      everyMs: EXPIRE_EVERY_MS,
      log,
      work: expireAbandoned({ database: reads, admissionBatcher }),
    }),
    startMaintenanceJob({ name: 'forget old', everyMs: FORGET_EVERY_MS, log, work: forget }),
    startMaintenanceJob({ name: 'note key uses', everyMs: NOTE_USES_EVERY_MS, log, work: () => uses.write() }),
    startMaintenanceJob({
      name: 'check books',
      everyMs: config.CHECK_EVERY_SECONDS * 1000,
      log,
      work: async () => {
        const report = await checkBooks(reads)
        metrics.checked(report)
        for (const finding of report.findings) log.error({ finding: sayFinding(finding) }, 'the books do not add up')
      },
    }),
  ]
  for (const job of jobs) onStop('keeper', () => job.stop())

  readiness.check('postgres', async () => ((await reads.prisma.$queryRaw`SELECT 1`) ? null : 'no answer'))
  const app = ledgerApp({
    admissionBatcher,
    flows: engine.lane,
    noteUse: uses.note,
    operations: {
      models: readModels(reads),
      key: readKeyStatus(reads),
      startExecution: trace?.start(engine.start) ?? engine.start,
      followExecution: followExecution(reads),
      readExecution: readExecution(reads),
      readUsage: readUsage(reads),
      readSandbox: readSandbox(reads),
      recordAsset: recordAsset(reads),
      readAsset: readAsset(reads),
      heartbeat: recordHeartbeat(reads),
      endInstance: endInstance(reads),
      fund: fund(reads),
      barrier: passBarrier(reads),
      wallet: readWallet(reads),
    },
    verify: openTokenVerifier({
      secrets: {
        gateway: config.SERVICE_SECRET_GATEWAY,
        worker: config.SERVICE_SECRET_WORKER,
        console: config.SERVICE_SECRET_CONSOLE,
      },
      now: () => Date.now(),
    }),
    readiness,
    metricsText: tools.metricsText,
    trace,
    log,
  })
  return tools.listen(app)
}
