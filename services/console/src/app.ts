import type { Express, Request, RequestHandler } from 'express'
import { pageAddress, readBuiltPage, stylesheetAddress } from '@gateway/console-page/built-page'
import type { ApiRoute } from '@gateway/api/api-route'
import { consoleRoutes } from '@gateway/api/console-routes'
import { answerErrors } from '@gateway/service-kit/http/answers'
import { contractRoutes, mountRoutes, notFound, openApp } from '@gateway/service-kit/http/routes'
import { mountHealth, type HealthAnswer, preamble } from '@gateway/service-kit/http/preamble'
import { trustProxies, countedAddress } from '@gateway/service-kit/http/connections'
import { noteOrigin } from './audit/record-change.ts'
import type { ConsoleDeps } from './deps.ts'
import { explainError } from './errors/explain-error.ts'
import { consoleHandlers } from './handlers.ts'
import { consolePage, pagePaths } from './page/console-page.ts'
import { requestHandlers } from './request/call.ts'
import { receiveFirst } from './request/receive-first.ts'
import { authenticate, authenticateAgain, sentSecret } from './sign-in/authenticate.ts'
import { isSignedIn, userOf } from './sign-in/user.ts'
import { isFollower, isRevocation } from '@gateway/api/request-kinds'
import { credentialOf } from '@gateway/service-kit/http/caller-permits'
import { queryAs, type AskedPermits, holdPermits, permitsOf } from './request/request-limits.ts'
import { refuse } from '@gateway/api/refusal'

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

  receiveFirst(app)
  app.use('/api/v2', noteOrigin(), limitRequests(deps))
  const handlers = underPermits(requestHandlers(consoleHandlers(deps), authenticateAgain(deps)))
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

/** Admits a request if its caller may have another one in progress. @throws Refusal `overloaded` */
function limitRequests(deps: Pick<ConsoleDeps, 'requestLimits' | 'publicUrl'>): RequestHandler {
  const { requestLimits } = deps
  return (req, res, next) => {
    const asked = askedBy(deps, req)
    const held = holdPermits(res, asked, requestLimits.begin(asked))
    res.once('finish', () => {
      if (isSignedIn(res) && res.statusCode < 400) requestLimits.answered(asked, userOf(res))
    })
    queryAs(held, next)
  }
}

/** Runs each handler under the permits of its request (Q2 in request-limits.ts). */
function underPermits<Operation extends string>(
  handlers: Record<Operation, RequestHandler | null>,
): Record<Operation, RequestHandler | null> {
  const limited = Object.entries<RequestHandler | null>(handlers).map(([operation, handle]) => {
    const inPermits: RequestHandler = (req, res, next) => permitsOf(res).during(() => handle?.(req, res, next))
    return [operation, handle && inPermits]
  })
  return Object.fromEntries(limited) as Record<Operation, RequestHandler | null>
}

function askedBy(deps: Pick<ConsoleDeps, 'publicUrl'>, req: Request): AskedPermits {
  const path = req.baseUrl + req.path
  const { secret } = sentSecret(deps, req)
  return {
    credential: secret === null ? null : credentialOf(secret),
    address: countedAddress(req),
    revokes: isRevocation(req.method, path),
    follows: isFollower(req.method, path),
    tenant: /^\/api\/v2\/tenants\/([^/]+)/i.exec(path)?.[1] ?? null,
  }
}

/**
 * Refuses writes that a page of another site makes a browser send (CSRF). The browser adds the cookie automatically, so
 * the cookie proves only that the user is signed in, not that our page sent the request. Reads change nothing, and the
 * foreign page can't read their responses; nor can it send an `Authorization` header without our permission (CORS).
 * @throws Refusal `invalid_request`
 */
function refuseForeignPages({ publicUrl }: Pick<ConsoleDeps, 'publicUrl'>): RequestHandler {
  return (req, _res, next) => {
    const changes = !['GET', 'HEAD', 'OPTIONS'].includes(req.method)
    if (!changes || req.get('Authorization') !== undefined || !isForeign(req, publicUrl)) return next()
    throw refuse('invalid_request', {
      reason: 'This request comes from a page of another site.',
      resolution: "Send it from the console's own page, or with the header Authorization: Bearer and a personal token.",
    })
  }
}

/**
 * Whether a browser reports another site as the origin. Over plain http it sends only `Origin`; programs send neither.
 */
function isForeign(req: Request, publicUrl: string | undefined): boolean {
  const site = req.get('Sec-Fetch-Site')
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  const origin = req.get('Origin')
  if (origin === undefined || origin === publicUrl) return false
  return hostOf(origin) !== req.get('Host')
}

function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null
}
