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
import { barrier, beat, callerQuestion, endHolder, funding, walletQuestion } from '@gateway/contracts/ledger-reads'
import type { Readiness } from '@gateway/process/health'
import type { Logger } from '@gateway/process/logger'
import type {
  Beat,
  CallerQuestion,
  Funding,
  KeyAnswer,
  ModelsAnswer,
  WalletAnswer,
} from '@gateway/contracts/ledger-reads'
import type { Lanes } from './batch/lanes.ts'
import { answerQuestion } from './receive/answer-question.ts'
import { authorize, holds, type VerifyToken } from './receive/authorize.ts'
import { decideItems, type FlowLane } from './receive/decide-items.ts'
import type { LedgerTrace } from './trace.ts'

export interface Needs {
  lanes: Lanes
  flows: FlowLane
  noteUse: (key: string) => void
  readModels: (question: CallerQuestion) => Promise<ModelsAnswer>
  readKey: (question: CallerQuestion) => Promise<KeyAnswer>
  startRun: (question: StartQuestion) => Promise<StartAnswer>
  followRun: (question: FollowQuestion) => Promise<FollowAnswer>
  readExecution: (question: ExecutionQuestion) => Promise<ExecutionAnswer>
  readUsage: (question: UsageQuestion) => Promise<UsageAnswer>
  readSandbox: (question: SandboxQuestion) => Promise<SandboxAnswer>
  recordAsset: (question: AssetRecordQuestion) => Promise<AssetRecordAnswer>
  readAsset: (question: AssetQuestion) => Promise<AssetAnswer>
  beatHolder: (beat: Beat) => Promise<{ alive: boolean }>
  endHolder: (holder: string) => Promise<void>
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
export function ledgerApp(needs: Needs): Express {
  const app = express()
  app.disable('x-powered-by')
  app.set('etag', false)
  const may = (right: Parameters<typeof authorize>[1]) => authorize(needs.verify, right)
  const traced = (name: string): RequestHandler => needs.trace?.question(name) ?? ((_req, _res, next) => next())

  app.post(
    '/items',
    may('items'),
    decideItems({ lanes: needs.lanes, flows: needs.flows, admitted: needs.noteUse, trace: needs.trace }),
  )
  app.post('/models', may('models'), answerQuestion(callerQuestion, needs.readModels))
  app.post('/keys/read', may('keys'), answerQuestion(callerQuestion, needs.readKey))
  app.post(
    '/executions/start',
    may('executions'),
    traced('start'),
    answerQuestion(startQuestion, needs.startRun, {
      mostBytes: 2 * flowLimits.bodyBytes, // what is around the input of an invoke, and how JSON writes it anew
      forbids: ({ caller }, res) =>
        'person' in caller && !holds(res, 'persons') ? 'Only the console begins runs in the name of a person.' : null,
    }),
  )
  app.post('/executions/follow', may('executions'), answerQuestion(followQuestion, needs.followRun))
  app.post('/executions/read', may('executions'), answerQuestion(executionQuestion, needs.readExecution))
  app.post('/executions/usage', may('executions'), answerQuestion(usageQuestion, needs.readUsage))
  app.post('/sandboxes/read', may('sandboxes'), answerQuestion(sandboxQuestion, needs.readSandbox))
  app.post('/assets/record', may('assets'), traced('record-asset'), answerQuestion(assetRecord, needs.recordAsset))
  app.post('/assets/read', may('assets'), answerQuestion(assetQuestion, needs.readAsset))
  app.post('/holders/beat', may('holders'), answerQuestion(beat, needs.beatHolder))
  app.post(
    '/holders/end',
    may('holders'),
    answerQuestion(endHolder, async ({ holder }) => ({ ended: await needs.endHolder(holder) })),
  )
  app.post('/fundings', may('fundings'), answerQuestion(funding, needs.fund))
  app.post(
    '/barrier',
    may('barrier'),
    answerQuestion(barrier, ({ projects }) => needs.passBarrier(projects)),
  )
  app.post('/wallets/read', may('wallets'), answerQuestion(walletQuestion, needs.readWallet))

  app.get('/health/live', (_req, res) => {
    const { status, body } = needs.readiness.live()
    res.status(status).json(body)
  })
  app.get('/health/ready', async (_req, res) => {
    const { status, body } = await needs.readiness.ready()
    res.status(status).json(body)
  })
  app.get('/metrics', async (_req, res) => void res.type('text/plain').send(await needs.metricsText()))

  app.use(
    (_req, res) =>
      void res.status(404).json({ error: 'There is nothing here; app.ts of the ledger lists what there is.' }),
  )
  app.use(failed(needs.log))
  return app
}

function failed(log: Logger): ErrorRequestHandler {
  return (error, req, res, _next) => {
    log.error({ err: error as unknown, path: req.path }, 'a request failed')
    if (res.headersSent) res.destroy()
    else res.status(503).json({ error: 'The books can not be reached now.' })
  }
}
