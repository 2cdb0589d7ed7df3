import type { Express } from 'express'
import { itemsEndpoint } from '@gateway/contracts/ledger-items'
import { answerErrors } from '@gateway/service-kit/http/answer-errors'
import { mountHealth } from '@gateway/service-kit/http/health'
import { internalAnswers } from '@gateway/service-kit/http/internal-answers'
import { openApp } from '@gateway/service-kit/http/open-app'
import { notFound } from '@gateway/service-kit/http/routes'
import type { Readiness } from '@gateway/service-kit/process/health'
import type { Deps } from './deps.ts'
import { authorize, type VerifyToken } from './receive/authorize.ts'
import { decideItems } from './receive/decide-items.ts'
import { mountOperations } from './receive/mount-operations.ts'

interface AppDeps extends Deps {
  verify: VerifyToken
  readiness: Readiness
}

/** The whole surface of the ledger, internal only: POST /items, and the operations of operation-handlers.ts. */
export function ledgerApp(deps: AppDeps): Express {
  const { verify, readiness, log } = deps
  const app = openApp()
  app.post(itemsEndpoint.path, authorize(verify, itemsEndpoint), decideItems(deps))
  mountOperations(app, deps, verify)
  mountHealth(app, { live: readiness.live, ready: readiness.ready })
  app.use(notFound)
  app.use(answerErrors(internalAnswers({ service: 'ledger', failure: 'The books can not be reached now.', log })))
  return app
}
