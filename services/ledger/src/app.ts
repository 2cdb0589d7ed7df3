import express, { type ErrorRequestHandler, type Express } from 'express'
import { itemsEndpoint } from '@gateway/contracts/ledger-items'
import type { Readiness } from '@gateway/process/health'
import type { Logger } from '@gateway/process/logger'
import type { AdmissionBatcher } from './batch/admission-batcher.ts'
import { authorize, type VerifyToken } from './receive/authorize.ts'
import { decideItems, type NodeBatcher } from './receive/decide-items.ts'
import { mountOperations, type OperationHandlers } from './receive/mount-operations.ts'
import type { LedgerTrace } from './trace.ts'

export interface Deps {
  admissionBatcher: AdmissionBatcher
  flows: NodeBatcher
  noteUse: (key: string) => void
  operations: OperationHandlers
  verify: VerifyToken
  readiness: Readiness
  metricsText: () => Promise<string>
  trace?: LedgerTrace | undefined
  log: Logger
}

/** The whole surface of the ledger, internal only: POST /items, and the operations of contracts/ledger-operations.ts. */
export function ledgerApp(deps: Deps): Express {
  const app = express()
  app.disable('x-powered-by')
  app.set('etag', false)

  app.post(itemsEndpoint.path, authorize(deps.verify, itemsEndpoint), decideItems(deps))
  mountOperations(app, deps.operations, deps)

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
      void res
        .status(404)
        .json({ error: 'There is nothing here; contracts/ledger-operations.ts lists what there is.' }),
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
