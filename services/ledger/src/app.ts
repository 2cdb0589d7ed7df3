import type { Express } from 'express'
import { answerErrors, internalAnswers } from '@gateway/service-kit/http/answers'
import { notFound, openApp } from '@gateway/service-kit/http/routes'
import type { RequestVerifier } from '@gateway/ledger-client/service-token'
import { mountHealth } from '@gateway/service-kit/http/health'
import type { Readiness } from '@gateway/service-kit/process/health'
import type { Deps } from './deps.ts'
import { type CarryOut, mountOperations } from './receive/operations.ts'

interface AppDeps extends Pick<Deps, 'log'> {
  operations: CarryOut
  verify: RequestVerifier
  readiness: Readiness
}

/** The ledger's HTTP API, internal only: operations that come as requests. Items and the others have channels. */
export function ledgerApp({ operations, verify, readiness, log }: AppDeps): Express {
  const app = openApp()
  mountOperations(app, operations, verify)
  mountHealth(app, { live: readiness.live, ready: readiness.ready })
  app.use(notFound)
  app.use(answerErrors(internalAnswers({ service: 'ledger', failure: 'The books cannot be reached now.', log })))
  return app
}
