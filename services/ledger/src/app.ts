import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import {
  assetQuestion,
  assetRecord,
  executionQuestion,
  followQuestion,
  sandboxQuestion,
  startQuestion,
  usageQuestion,
} from '@gateway/contracts/flow-reads'
import type {
  AssetAnswer,
  AssetQuestion,
  AssetRecordAnswer,
  AssetRecordQuestion,
  ExecutionAnswer,
  ExecutionQuestion,
  FollowAnswer,
  FollowQuestion,
  SandboxAnswer,
  SandboxQuestion,
  StartAnswer,
  StartQuestion,
  UsageAnswer,
  UsageQuestion,
} from '@gateway/contracts/flow-reads'
import { flowLimits } from '@gateway/contracts/limits'
import {
  barrier,
  heartbeat,
  callerQuestion,
  endInstance,
  funding,
  walletQuestion,
} from '@gateway/contracts/ledger-reads'
import type { Readiness } from '@gateway/process/health'
import type { Logger } from '@gateway/process/logger'
import type {
  Heartbeat,
  CallerQuestion,
  Funding,
  KeyAnswer,
  ModelsAnswer,
  WalletAnswer,
} from '@gateway/contracts/ledger-reads'
import type { AdmissionBatcher } from './admissions/admission-batcher.ts'
import { answerQuestion } from './receive/answer-question.ts'
import { authorize, holds, type VerifyToken } from './receive/authorize.ts'
import { decideItems, type NodeBatcher } from './receive/decide-items.ts'
import type { LedgerTrace } from './trace.ts'

export interface Deps {
  admissionBatcher: AdmissionBatcher
  flows: NodeBatcher
  noteUse: (key: string) => void
  readModels: (question: CallerQuestion) => Promise<ModelsAnswer>
  readKey: (question: CallerQuestion) => Promise<KeyAnswer>
  startExecution: (question: StartQuestion) => Promise<StartAnswer>
  followExecution: (question: FollowQuestion) => Promise<FollowAnswer>
  readExecution: (question: ExecutionQuestion) => Promise<ExecutionAnswer>
  readUsage: (question: UsageQuestion) => Promise<UsageAnswer>
  readSandbox: (question: SandboxQuestion) => Promise<SandboxAnswer>
  recordAsset: (question: AssetRecordQuestion) => Promise<AssetRecordAnswer>
  readAsset: (question: AssetQuestion) => Promise<AssetAnswer>
  recordHeartbeat: (heartbeat: Heartbeat) => Promise<{ alive: boolean }>
  endInstance: (instance: string) => Promise<void>
  fund: (funding: Funding) => Promise<{ fresh: boolean; micro: number }>
  passBarrier: (projects: string[]) => Promise<object>
  readWallet: (question: { project: string }) => Promise<WalletAnswer>
  verify: VerifyToken
  readiness: Readiness
  metricsText: () => Promise<string>
  trace?: LedgerTrace | undefined
  log: Logger
}

/** The whole surface of the ledger, internal only. */
export function ledgerApp(deps: Deps): Express {
  const app = express()
  app.disable('x-powered-by')
  app.set('etag', false)
  const may = (permission: Parameters<typeof authorize>[1]) => authorize(deps.verify, permission)
  const traced = (name: string): RequestHandler => deps.trace?.question(name) ?? ((_req, _res, next) => next())

  app.post(
    '/items',
    may('items'),
    decideItems({
      admissionBatcher: deps.admissionBatcher,
      flows: deps.flows,
      admitted: deps.noteUse,
      trace: deps.trace,
    }),
  )
  app.post('/models', may('models'), answerQuestion(callerQuestion, deps.readModels))
  app.post('/keys/read', may('keys'), answerQuestion(callerQuestion, deps.readKey))
  app.post(
    '/executions/start',
    may('executions'),
    traced('start'),
    answerQuestion(startQuestion, deps.startExecution, {
      mostBytes: 2 * flowLimits.bodyBytes, // what is around the input of an invoke, and how JSON writes it anew
      forbids: ({ caller }, res) =>
        'person' in caller && !holds(res, 'persons') ? 'Only the console begins runs in the name of a person.' : null,
    }),
  )
  app.post('/executions/follow', may('executions'), answerQuestion(followQuestion, deps.followExecution))
  app.post('/executions/read', may('executions'), answerQuestion(executionQuestion, deps.readExecution))
  app.post('/executions/usage', may('executions'), answerQuestion(usageQuestion, deps.readUsage))
  app.post('/sandboxes/read', may('sandboxes'), answerQuestion(sandboxQuestion, deps.readSandbox))
  app.post('/assets/record', may('assets'), traced('record-asset'), answerQuestion(assetRecord, deps.recordAsset))
  app.post('/assets/read', may('assets'), answerQuestion(assetQuestion, deps.readAsset))
  app.post('/instances/heartbeat', may('instances'), answerQuestion(heartbeat, deps.recordHeartbeat))
  app.post(
    '/instances/end',
    may('instances'),
    answerQuestion(endInstance, async ({ instance }) => ({ ended: await deps.endInstance(instance) })),
  )
  app.post('/fundings', may('fundings'), answerQuestion(funding, deps.fund))
  app.post(
    '/barrier',
    may('barrier'),
    answerQuestion(barrier, ({ projects }) => deps.passBarrier(projects)),
  )
  app.post('/wallets/read', may('wallets'), answerQuestion(walletQuestion, deps.readWallet))

  app.get('/health/live', (_req, res) => {
    const { status, body } = deps.readiness.live()
    res.status(status).json(body)
  })
  app.get('/health/ready', async (_req, res) => {
    const { status, body } = await deps.readiness.ready()
    res.status(status).json(body)
  })
  app.get('/metrics', async (_req, res) => void res.type('text/plain').send(await deps.metricsText()))

  app.use(
    (_req, res) =>
      void res.status(404).json({ error: 'There is nothing here; app.ts of the ledger lists what there is.' }),
  )
  app.use(failed(deps.log))
  return app
}

function failed(log: Logger): ErrorRequestHandler {
  return (error, req, res, _next) => {
    log.error({ err: error as unknown, path: req.path }, 'a request failed')
    if (res.headersSent) res.destroy()
    else res.status(503).json({ error: 'The books can not be reached now.' })
  }
}
