import { openDatabase, type Database } from '@gateway/database/client'
import { openTokenVerifier } from '@gateway/ledger-client/service-token'
import type { ServiceTools } from '@gateway/process/run-service'
import { ledgerApp } from './app.ts'
import { passBarrier } from './barrier.ts'
import { openLanes } from './batch/lanes.ts'
import { batchRunner } from './batch/run-batch.ts'
import { checkBooks, sayFinding } from './check/check-books.ts'
import type { LedgerConfig } from './config.ts'
import { openFlowEngine } from './flows/open-flow-engine.ts'
import { followRun } from './flows/records/follow-run.ts'
import { readExecution } from './flows/records/read-execution.ts'
import { fund } from './funding.ts'
import { beatHolder, endHolder } from './holders.ts'
import { endSilent } from './keepers/end-silent.ts'
import { expireAbandoned } from './keepers/expire-abandoned.ts'
import { forgetOld } from './keepers/forget-old.ts'
import { startKeeper } from './keepers/keeper.ts'
import { openKeyUses } from './key-uses.ts'
import { openMeasures } from './measures.ts'
import { readAsset, recordAsset } from './reads/assets.ts'
import { readKeyStanding } from './reads/key-standing.ts'
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
const LOOK_AFTER_RUNS_EVERY_MS = 1_000
/** One for the lane of items about nodes, one for the start of runs. */
const FLOW_CONNECTIONS = 2
const FORGET_EVERY_MS = 3_600_000
const NOTE_USES_EVERY_MS = 10_000

/** Builds the ledger: the books, the lanes on them, the bell and the queue that they tell, the keepers beside them, and at last the door. */
export async function startLedger(config: LedgerConfig, tools: ServiceTools) {
  const { log, onStop, readiness } = tools
  const books = await open('lanes', config.BATCH_LANES)
  const runs = await open('runs', FLOW_CONNECTIONS)
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

  const measures = openMeasures(tools.meter, log, now)
  const trace = tools.spans ? openLedgerTrace(tools.spans) : undefined
  const runBatch = batchRunner(books)
  const lanes = openLanes({
    runBatch: trace?.batch(runBatch) ?? runBatch,
    finishReplays: replayFinisher(reads),
    limits: {
      lanes: config.BATCH_LANES,
      batchItems: config.BATCH_ITEMS,
      batchBytes: 1024 * 1024,
      waitingAdmissions: config.WAITING_ADMISSIONS,
    },
    now,
    observe: measures,
  })
  measures.watchLanes(lanes)
  measures.watchHolds(reads)
  onStop('lanes', () => lanes.drain(), { limitMs: 5_000 })

  const uses = openKeyUses(reads)
  onStop('key uses', () => uses.write())

  const engine = openFlowEngine({
    runs,
    reads,
    config,
    noteUse: uses.note,
    measures,
    tracer: trace ? tools.tracer : null,
    onCharged: trace?.charged ?? null,
    log,
    onStop,
    now,
  })

  const forget = forgetOld(reads)
  await forget()
  const silence = endSilent(reads)
  const keepers = [
    startKeeper({
      name: 'end silent holders',
      everyMs: END_SILENT_EVERY_MS,
      log,
      work: async () => {
        await silence()
        await engine.reclaim()
      },
    }),
    startKeeper({ name: 'end overdue runs', everyMs: LOOK_AFTER_RUNS_EVERY_MS, log, work: engine.endOverdue }),
    startKeeper({ name: 'ring again', everyMs: LOOK_AFTER_RUNS_EVERY_MS, log, work: engine.ringAgain }),
    startKeeper({
      name: 'expire abandoned',
      everyMs: EXPIRE_EVERY_MS,
      log,
      work: expireAbandoned({ database: reads, lanes }),
    }),
    startKeeper({ name: 'forget old', everyMs: FORGET_EVERY_MS, log, work: forget }),
    startKeeper({ name: 'note key uses', everyMs: NOTE_USES_EVERY_MS, log, work: () => uses.write() }),
    startKeeper({
      name: 'check books',
      everyMs: config.CHECK_EVERY_SECONDS * 1000,
      log,
      work: async () => {
        const report = await checkBooks(reads)
        measures.checked(report)
        for (const finding of report.findings) log.error({ finding: sayFinding(finding) }, 'the books do not add up')
      },
    }),
  ]
  for (const keeper of keepers) onStop('keeper', () => keeper.stop())

  readiness.check('postgres', async () => ((await reads.prisma.$queryRaw`SELECT 1`) ? null : 'no answer'))
  const app = ledgerApp({
    lanes,
    flows: engine.lane,
    noteUse: uses.note,
    readModels: readModels(reads),
    readKey: readKeyStanding(reads),
    startRun: trace?.start(engine.start) ?? engine.start,
    followRun: followRun(reads),
    readExecution: readExecution(reads),
    readUsage: readUsage(reads),
    readSandbox: readSandbox(reads),
    recordAsset: recordAsset(reads),
    readAsset: readAsset(reads),
    beatHolder: beatHolder(reads),
    endHolder: endHolder(reads),
    fund: fund(reads),
    passBarrier: passBarrier(reads),
    readWallet: readWallet(reads),
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
