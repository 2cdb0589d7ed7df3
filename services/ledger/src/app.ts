import type { Express } from 'express'
import { answerErrors, internalAnswers } from '@gateway/service-kit/http/answers'
import { notFound, openApp } from '@gateway/service-kit/http/routes'
import type { RequestVerifier } from '@gateway/ledger-client/service-token'
import { mountHealth } from '@gateway/service-kit/http/health'
import type { Readiness } from '@gateway/service-kit/process/health'
import type { Deps } from './deps.ts'
import { mountOperations } from './receive/mount-operations.ts'

interface AppDeps extends Deps {
  verify: RequestVerifier
  readiness: Readiness
}

/** The ledger's HTTP API, internal only: the operations of operation-handlers.ts. Items have channels. */
export function ledgerApp(deps: AppDeps): Express {
  const { verify, readiness, log } = deps
  const app = openApp()
  mountOperations(app, deps, verify)
  mountHealth(app, { live: readiness.live, ready: readiness.ready })
  app.use(notFound)
  app.use(answerErrors(internalAnswers({ service: 'ledger', failure: 'The books cannot be reached now.', log })))
  return app
}
