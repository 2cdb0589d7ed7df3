import type { Express } from 'express'
import { answerErrors, internalAnswers } from '@gateway/service-kit/http/answers'
import { notFound, openApp } from '@gateway/service-kit/http/routes'
import { mountHealth } from '@gateway/service-kit/http/health'
import type { Readiness } from '@gateway/service-kit/process/health'
import type { Logger } from '@gateway/service-kit/process/logger'

export interface AppOptions {
  readiness: Readiness
  log: Pick<Logger, 'error'>
}

/** Builds the internal HTTP surface of the worker; its jobs come through the queue. */
export function workerApp({ readiness, log }: AppOptions): Express {
  const app = openApp()
  mountHealth(app, { live: readiness.live, ready: readiness.ready })
  app.use(notFound)
  app.use(answerErrors(internalAnswers({ service: 'worker', failure: 'The worker cannot answer now.', log })))
  return app
}
