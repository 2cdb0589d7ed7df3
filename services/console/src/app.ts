import express, { type Express } from 'express'
import type { ApiRoute } from '@gateway/contracts/api-route'
import { consoleRoutes } from '@gateway/contracts/console-routes'
import type { ConsoleDeps } from './deps.ts'
import { answerError, notFound } from './errors/answer-error.ts'
import { consoleHandlers } from './handlers.ts'
import { consolePage } from './page/console-page.ts'
import { requestHandlers } from './request/call.ts'
import { contractRoutes } from './request/contract-routes.ts'
import { observeRequests } from './request/observe-requests.ts'
import { refuseForeignPages } from './request/refuse-foreign-pages.ts'
import { giveRequestId } from './request/request-id.ts'
import { mountRoutes } from './request/routes.ts'
import { authenticate } from './sign-in/authenticate.ts'

/** The whole surface of the console, in order (decisions.md, 7); handlers.ts lists the operations of its API. */
export function consoleApp(deps: ConsoleDeps): Express {
  const app = express()
  app.disable('x-powered-by')
  app.set('etag', false)
  // The gateway or an ingress stands before it; the addresses of callers count for the throttle only.
  app.set('trust proxy', ['loopback', 'linklocal', 'uniquelocal'])
  app.use((_req, res, next) => {
    res.set({
      'X-Content-Type-Options': 'nosniff',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Cache-Control': 'no-store',
    })
    next()
  })

  app.get('/health/live', (_req, res) => {
    const { status, body } = deps.readiness.live()
    res.status(status).json(body)
  })
  app.get('/health/ready', async (_req, res) => {
    const { status, body } = await deps.readiness.ready()
    // Said, and no reason to send people elsewhere: tokens and passwords work without the provider.
    const limited = deps.provider?.isReached() === false && { limited: { 'sign-in provider': 'not reached' } }
    res.status(status).json({ ...body, ...limited })
  })
  app.get('/metrics', async (_req, res) => void res.type('text/plain').send(await deps.metricsText()))

  app.use(giveRequestId(deps), observeRequests(deps), refuseForeignPages(deps))
  app.get(['/', '/console', '/console/*file'], consolePage())

  const handlers = requestHandlers(consoleHandlers(deps))
  mountRoutes(app, contractRoutes(consoleRoutes, handlers, isOpen))
  app.use('/api/v2', authenticate(deps))
  mountRoutes(
    app,
    contractRoutes(consoleRoutes, handlers, (row) => !isOpen(row)),
  )
  app.use(notFound)
  app.use(answerError(deps))
  return app
}

/** Whether something at its path needs nobody who is signed in: then each handler there says by itself who may ask. */
function isOpen({ path }: ApiRoute): boolean {
  return Object.values<ApiRoute>(consoleRoutes).some((row) => row.path === path && row.by !== 'person')
}
