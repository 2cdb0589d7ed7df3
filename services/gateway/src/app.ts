import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import type { Id } from '@gateway/contracts/ids'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import type { Readiness } from '@gateway/process/health'
import type { Logger } from '@gateway/process/logger'
import { showDocs, showOpenApi } from './docs/api-docs.ts'
import { probe, showMetrics } from './health/health.ts'
import { showAsset } from './assets/show-asset.ts'
import { uploadAsset } from './assets/upload-asset.ts'
import { showKey } from './keys/show-key.ts'
import { listModels, showModel } from './models/models.ts'
import { logRequests } from './log-requests.ts'
import { nameRequest } from './name-request.ts'
import { allowOnly, notFound } from './refuse/no-such-thing.ts'
import { showExecution } from './run/show-execution.ts'

export interface Deps {
  completeChat: RequestHandler
  invoke: RequestHandler<{ id: string }>
  mcp: RequestHandler<{ id: string }>
  assets: Parameters<typeof uploadAsset>[0] & Parameters<typeof showAsset>[0]
  executions: Parameters<typeof showExecution>[0]
  ledger: Pick<LedgerClient, 'models' | 'key'>
  /** Passes a request on to the console service. */
  toConsole: RequestHandler
  readiness: Readiness
  metricsText: () => Promise<string>
  mint: (prefix: 'req') => Id<'req'>
  log: Pick<Logger, 'info' | 'debug'>
  /** Monotonic milliseconds. */
  now: () => number
  answerFailure: ErrorRequestHandler
}

/** The whole public surface, in the order in which it is matched. The hot path comes first. */
export function gatewayApp({
  completeChat,
  invoke,
  mcp,
  assets,
  executions,
  ledger,
  toConsole,
  readiness,
  metricsText,
  mint,
  log,
  now,
  answerFailure,
}: Deps): Express {
  const app = express()
  app.disable('x-powered-by')
  app.set('etag', false)
  app.use(nameRequest(mint))
  app.use(logRequests(log, now))

  app.route('/v1/chat/completions').post(completeChat).all(allowOnly('POST'))
  app.route('/v1/models').get(listModels({ ledger })).all(allowOnly('GET'))
  app.route('/v1/models/*id').get(showModel({ ledger })).all(allowOnly('GET'))
  app.route('/v1/key').get(showKey({ ledger })).all(allowOnly('GET'))

  app.route('/v1/sandbox/:id/invoke').post(invoke).all(allowOnly('POST'))
  app.route('/v1/sandbox/:id/mcp').post(mcp).all(mcp)
  app.route('/v1/executions/:id').get(showExecution(executions)).all(allowOnly('GET'))
  app.route('/v1/assets').post(uploadAsset(assets)).all(allowOnly('POST'))
  app.route('/v1/assets/:id').get(showAsset(assets)).all(allowOnly('GET'))

  app.use(['/api/v2', '/console'], toConsole)

  app.route('/docs').get(showDocs()).all(allowOnly('GET'))
  app.route('/docs/:file').get(showDocs()).all(allowOnly('GET'))
  app.route('/openapi.json').get(showOpenApi()).all(allowOnly('GET'))

  app.route('/health/live').get(probe(readiness.live)).all(allowOnly('GET'))
  app.route('/health/ready').get(probe(readiness.ready)).all(allowOnly('GET'))
  app.route('/metrics').get(showMetrics(metricsText)).all(allowOnly('GET'))

  app.use(notFound)
  app.use(answerFailure)
  return app
}
