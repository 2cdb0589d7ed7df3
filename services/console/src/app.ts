import type { Express } from 'express'
import { pageAddress, readBuiltPage, stylesheetAddress } from '@gateway/console-page/built-page'
import type { ApiRoute } from '@gateway/api/api-route'
import { consoleRoutes } from '@gateway/api/console-routes'
import { answerErrors } from '@gateway/service-kit/http/answers'
import { contractRoutes, mountRoutes, notFound, openApp } from '@gateway/service-kit/http/routes'
import { mountHealth, type HealthAnswer } from '@gateway/service-kit/http/health'
import { preamble } from '@gateway/service-kit/http/preamble'
import type { ConsoleDeps } from './deps.ts'
import { explainError } from './errors/explain-error.ts'
import { consoleHandlers } from './handlers.ts'
import { consolePage, pagePaths } from './page/console-page.ts'
import { requestHandlers } from './request/call.ts'
import { refuseForeignPages } from './request/refuse-foreign-pages.ts'
import { authenticate } from './sign-in/authenticate.ts'
import { isSignedIn, userOf } from './sign-in/user.ts'

/**
 * The whole surface of the console, in order (rules §7.2); handlers.ts lists the operations of its API.
 * @throws Error that says how to build its page, where that is not built
 */
export function consoleApp(deps: ConsoleDeps): Express {
  const page = readBuiltPage()
  const app = openApp()
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
  const { live } = deps.readiness
  mountHealth(app, { live, ready: () => readyOrLimited(deps) })

  app.use(
    preamble({
      newRequestId: () => deps.newId('req'),
      keepsSentId: true,
      log: deps.log,
      now: () => performance.now(),
      fields: (res) => (isSignedIn(res) ? { user: userOf(res).id } : {}),
      record: (request) => deps.metrics.answered(request),
    }),
  )
  app.use(refuseForeignPages(deps))
  app.get('/', (_req, res) => res.redirect(pageAddress))
  app.get(pagePaths, consolePage(page))

  const handlers = requestHandlers(consoleHandlers(deps))
  mountRoutes(app, contractRoutes(consoleRoutes, handlers, isOpen))
  app.use('/api/v2', authenticate(deps))
  mountRoutes(
    app,
    contractRoutes(consoleRoutes, handlers, (row) => !isOpen(row)),
  )
  app.use(notFound)
  app.use(answerErrors(explainError(deps, stylesheetAddress(page))))
  return app
}

/** Whether something at its path needs no one who is signed in: then each handler there says by itself who may ask. */
function isOpen({ path }: ApiRoute): boolean {
  return Object.values<ApiRoute>(consoleRoutes).some((row) => row.path === path && row.by !== 'user')
}

async function readyOrLimited({ readiness, provider }: ConsoleDeps): Promise<HealthAnswer> {
  const { status, body } = await readiness.ready()
  // Said, and no reason to send users elsewhere: tokens and passwords work without the provider.
  const limited = provider?.isReached() === false && { limited: { 'sign-in provider': 'not reached' } }
  return { status, body: { ...body, ...limited } }
}
