import type { Express } from 'express'
import { answerErrors } from '@gateway/http/answer-errors'
import { mountHealth } from '@gateway/http/health'
import { internalAnswers } from '@gateway/http/internal-answers'
import { openApp } from '@gateway/http/open-app'
import { notFound } from '@gateway/http/routes'
import type { Readiness } from '@gateway/process/health'
import type { Logger } from '@gateway/process/logger'

export interface AppOptions {
  readiness: Readiness
  log: Pick<Logger, 'error'>
}

/** The whole surface of the worker, internal only: its work comes through the queue. */
export function workerApp({ readiness, log }: AppOptions): Express {
  const app = openApp()
  mountHealth(app, { live: readiness.live, ready: readiness.ready })
  app.use(notFound)
  app.use(answerErrors(internalAnswers({ service: 'worker', failure: 'The worker can not answer now.', log })))
  return app
}
