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
import { flowLimits } from '@gateway/contracts/limits'
import {
  barrier,
  heartbeat,
  callerQuestion,
  endInstance as endInstanceQuestion,
  funding,
  walletQuestion,
} from '@gateway/contracts/ledger-reads'
import type { Readiness } from '@gateway/process/health'
import type { Logger } from '@gateway/process/logger'
import { readAsset } from './assets/read-asset.ts'
import { recordAsset } from './assets/record-asset.ts'
import { readModels } from './catalogue/read-models.ts'
import { readSandbox } from './catalogue/read-sandbox.ts'
import type { Deps } from './deps.ts'
import { followExecution } from './executions/records/follow-execution.ts'
import { readExecution } from './executions/records/read-execution.ts'
import { readUsage } from './executions/records/read-usage.ts'
import { endInstance, recordHeartbeat } from './instances/heartbeat.ts'
import { readKeyStatus } from './keys/read-key-status.ts'
import { answerQuestion } from './receive/answer-question.ts'
import { authorize, holds, type VerifyToken } from './receive/authorize.ts'
import { decideItems } from './receive/decide-items.ts'
import { fund } from './wallets/fund.ts'
import { passBarrier } from './wallets/pass-barrier.ts'
import { readWallet } from './wallets/read-wallet.ts'

interface AppDeps extends Deps {
  verify: VerifyToken
  readiness: Readiness
  metricsText: () => Promise<string>
}

/** The whole surface of the ledger, internal only. */
export function ledgerApp(deps: AppDeps): Express {
  const app = express()
  app.disable('x-powered-by')
  app.set('etag', false)
  const start = deps.trace?.start(deps.startBatcher.submit) ?? deps.startBatcher.submit
  const may = (permission: Parameters<typeof authorize>[1]) => authorize(deps.verify, permission)
  const traced = (name: string): RequestHandler => deps.trace?.question(name) ?? ((_req, _res, next) => next())

  app.post(
    '/items',
    may('items'),
    decideItems({
      admissionBatcher: deps.admissionBatcher,
      flows: deps.nodeBatcher,
      admitted: deps.keyUses.note,
      trace: deps.trace ?? undefined,
    }),
  )
  app.post(
    '/models',
    may('models'),
    answerQuestion(callerQuestion, (question) => readModels(deps, question)),
  )
  app.post(
    '/keys/read',
    may('keys'),
    answerQuestion(callerQuestion, (question) => readKeyStatus(deps, question)),
  )
  app.post(
    '/executions/start',
    may('executions'),
    traced('start'),
    answerQuestion(startQuestion, start, {
      mostBytes: 2 * flowLimits.bodyBytes, // what is around the input of an invoke, and how JSON writes it anew
      forbids: ({ caller }, res) =>
        'person' in caller && !holds(res, 'persons') ? 'Only the console begins runs in the name of a person.' : null,
    }),
  )
  app.post(
    '/executions/follow',
    may('executions'),
    answerQuestion(followQuestion, (question) => followExecution(deps, question)),
  )
  app.post(
    '/executions/read',
    may('executions'),
    answerQuestion(executionQuestion, (question) => readExecution(deps, question)),
  )
  app.post(
    '/executions/usage',
    may('executions'),
    answerQuestion(usageQuestion, (question) => readUsage(deps, question)),
  )
  app.post(
    '/sandboxes/read',
    may('sandboxes'),
    answerQuestion(sandboxQuestion, (question) => readSandbox(deps, question)),
  )
  app.post(
    '/assets/record',
    may('assets'),
    traced('record-asset'),
    answerQuestion(assetRecord, (question) => recordAsset(deps, question)),
  )
  app.post(
    '/assets/read',
    may('assets'),
    answerQuestion(assetQuestion, (question) => readAsset(deps, question)),
  )
  app.post(
    '/instances/heartbeat',
    may('instances'),
    answerQuestion(heartbeat, (question) => recordHeartbeat(deps, question)),
  )
  app.post(
    '/instances/end',
    may('instances'),
    answerQuestion(endInstanceQuestion, (question) => endInstance(deps, question)),
  )
  app.post(
    '/fundings',
    may('fundings'),
    answerQuestion(funding, (question) => fund(deps, question)),
  )
  app.post(
    '/barrier',
    may('barrier'),
    answerQuestion(barrier, (question) => passBarrier(deps, question)),
  )
  app.post(
    '/wallets/read',
    may('wallets'),
    answerQuestion(walletQuestion, (question) => readWallet(deps, question)),
  )

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
