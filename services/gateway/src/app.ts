import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import type { Id } from '@gateway/contracts/ids'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import type { Readiness } from '@gateway/process/health'
import { probe, showMetrics } from './health/health.ts'
import { listModels, showModel } from './models/models.ts'
import { nameRequest } from './name-request.ts'
import { allowOnly, notFound } from './refuse/no-such-thing.ts'

export interface Needs {
  completeChat: RequestHandler
  ledger: Pick<LedgerClient, 'models'>
  /** Passes a request on to the console service. */
  toConsole: RequestHandler
  readiness: Readiness
  metricsText: () => Promise<string>
  mint: (prefix: 'req') => Id<'req'>
  answerFailure: ErrorRequestHandler
}

/** The whole public surface, in the order in which it is matched. The hot path comes first. */
export function gatewayApp({
  completeChat,
  ledger,
  toConsole,
  readiness,
  metricsText,
  mint,
  answerFailure,
}: Needs): Express {
  const app = express()
  app.disable('x-powered-by')
  app.set('etag', false)
  app.use(nameRequest(mint))

  app.post('/v1/chat/completions', completeChat)
  app.all('/v1/chat/completions', allowOnly('POST'))

  app.get('/v1/models', listModels({ ledger }))
  app.get('/v1/models/*id', showModel({ ledger }))
  app.all(['/v1/models', '/v1/models/*id'], allowOnly('GET'))

  app.use(['/api/v2', '/console'], toConsole)

  app.get('/health/live', probe(readiness.live))
  app.get('/health/ready', probe(readiness.ready))
  app.get('/metrics', showMetrics(metricsText))
  app.all(['/health/live', '/health/ready', '/metrics'], allowOnly('GET'))

  app.use(notFound)
  app.use(answerFailure)
  return app
}
