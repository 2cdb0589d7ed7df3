import type { Express } from 'express'
import { pageAddress, readBuiltPage, stylesheetAddress } from '@gateway/console-page/built-page'
import type { ApiRoute } from '@gateway/api/api-route'
import { consoleRoutes } from '@gateway/api/console-routes'
import { answerErrors } from '@gateway/service-kit/http/answers'
import { contractRoutes, mountRoutes, notFound, openApp } from '@gateway/service-kit/http/routes'
import { mountHealth, type HealthAnswer } from '@gateway/service-kit/http/health'
import { trustProxies } from '@gateway/service-kit/http/trusted-proxies'
import { preamble } from '@gateway/service-kit/http/preamble'
import { noteOrigin } from './audit/request-origin.ts'
import type { ConsoleDeps } from './deps.ts'
import { explainError } from './errors/explain-error.ts'
import { consoleHandlers } from './handlers.ts'
import { consolePage, pagePaths } from './page/console-page.ts'
import { requestHandlers } from './request/call.ts'
import { limitRequests, underPermits } from './request/limit-requests.ts'
import { refuseForeignPages } from './request/refuse-foreign-pages.ts'
import { authenticate } from './sign-in/authenticate.ts'
import { isSignedIn, userOf } from './sign-in/user.ts'

/**
 * Builds all middleware and routes of the console, in order (rules §7.2); handlers.ts lists the operations of its API.
 * @throws Error that says how to build the page if it has not been built
 */
export function consoleApp(deps: ConsoleDeps, proxies: readonly string[] = []): Express {
  const page = readBuiltPage()
  const app = openApp()
  trustProxies(app, proxies)
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
      logsSentId: true,
      publicUrl: deps.publicUrl,
      log: deps.log,
      now: () => performance.now(),
      fields: (res) => (isSignedIn(res) ? { user: userOf(res).id } : {}),
      record: (request) => deps.metrics.answered(request),
    }),
  )
  app.use(refuseForeignPages(deps))
  app.get('/', (_req, res) => res.redirect(pageAddress))
  app.get(pagePaths, consolePage(page))

  app.use('/api/v2', noteOrigin(), limitRequests(deps))
  const handlers = underPermits(requestHandlers(consoleHandlers(deps)))
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

/**
 * Whether an operation at this path works without sign-in. If so, each handler at the path authorizes its own caller.
 */
function isOpen({ path }: ApiRoute): boolean {
  return Object.values<ApiRoute>(consoleRoutes).some((row) => row.path === path && row.by !== 'user')
}

async function readyOrLimited({ readiness, provider }: ConsoleDeps): Promise<HealthAnswer> {
  const { status, body } = await readiness.ready()
  // Reported, but no reason to take this replica out of service: tokens and passwords work without the provider.
  const limited = provider?.isReached() === false && { limited: { 'sign-in provider': 'not reached' } }
  return { status, body: { ...body, ...limited } }
}
