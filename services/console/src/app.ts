import express, { type Express } from 'express'
import { listAudit } from './audit/list-audit.ts'
import { changeProduct, createProduct, listProducts } from './catalogue/products.ts'
import { executeSandbox } from './executions/execute.ts'
import { listExecutions, readExecution } from './executions/executions.ts'
import { createKey } from './keys/create-key.ts'
import { listKeys, readKey } from './keys/list-keys.ts'
import { revokeKey } from './keys/revoke-key.ts'
import { rotateKey } from './keys/rotate-key.ts'
import { listInvocations, readInvocation } from './money/invocations.ts'
import { readUsage } from './money/usage.ts'
import { fundWallet, readWallet } from './money/wallet.ts'
import type { ConsoleDeps } from './needs.ts'
import { consolePage } from './page/console-page.ts'
import { listMembers, removeMember, setMember } from './people/members.ts'
import { listTeamMembers, removeTeamMember, setTeamMember } from './people/team-members.ts'
import { createTeam, deleteTeam, listTeams } from './people/teams.ts'
import { createTenant, deleteTenant, listTenants } from './people/tenants.ts'
import { assignProduct, listAssignments, unassignProduct } from './projects/assignments.ts'
import { listGrants, removeGrant, setGrant } from './projects/grants.ts'
import { createProject, deleteProject, listProjects } from './projects/projects.ts'
import { answerFailure, nothingHere } from './receive/answer-failure.ts'
import { observeRequests } from './receive/observe-requests.ts'
import { refuseForeignPages } from './receive/refuse-foreign-pages.ts'
import { giveRequestId } from './receive/request-id.ts'
import { mountRoutes, type Route } from './receive/routes.ts'
import { permissionsChanger } from './permissions/change-permissions.ts'
import { openAuthorize } from './permissions/authorize.ts'
import { barrierPasser } from './permissions/pass-barrier.ts'
import { activateRevision } from './sandboxes/activate-revision.ts'
import { listRevisions, readRevisionOf } from './sandboxes/revisions.ts'
import { changeSandbox, createSandbox, listSandboxes, readSandbox } from './sandboxes/sandboxes.ts'
import { saveRevision } from './sandboxes/save-revision.ts'
import { authenticate } from './sign-in/authenticate.ts'
import { readMe } from './sign-in/me.ts'
import { openPasswords } from './sign-in/password.ts'
import { comeFromProvider } from './sign-in/provider/come-from-provider.ts'
import { goToProvider } from './sign-in/provider/go-to-provider.ts'
import { sessionCookie } from './sign-in/session-cookie.ts'
import { signIn, signOut } from './sign-in/session.ts'
import { setPassword } from './sign-in/set-password.ts'
import { readSignInMethods } from './sign-in/sign-in-ways.ts'
import { openThrottle } from './sign-in/throttle.ts'
import { createToken, deleteToken, listTokens } from './sign-in/tokens.ts'

/** The whole surface of the console, in order (decisions.md, 7). */
export function consoleApp(plain: ConsoleDeps): Express {
  const deps = {
    ...plain,
    authorize: openAuthorize(plain),
    changePermissions: permissionsChanger(plain),
    passBarrier: barrierPasser(plain),
    throttle: openThrottle(plain),
    passwords: openPasswords(plain),
    session: sessionCookie(plain.publicUrl),
  }
  const tenant = '/api/v2/tenants/:tenant'
  const project = `${tenant}/projects/:project`
  const sandbox = `${tenant}/sandboxes/:sandbox`

  const { provider, publicUrl } = deps
  const throughProvider: Route[] =
    provider === undefined || publicUrl === undefined
      ? []
      : [
          ['GET', '/api/v2/session/oidc', goToProvider({ ...deps, provider, publicUrl })],
          ['GET', '/api/v2/session/oidc/callback', comeFromProvider({ ...deps, provider, publicUrl })],
        ]
  // These say by themselves who may ask.
  const open: Route[] = [
    ['GET', '/api/v2/session', readSignInMethods(deps)],
    ['POST', '/api/v2/session', signIn(deps)],
    ['DELETE', '/api/v2/session', signOut(deps)],
    ...throughProvider,
    ['POST', `${tenant}/keys/:key/rotate`, rotateKey(deps)],
  ]
  const signedIn: Route[] = [
    ['GET', '/api/v2/me', readMe(deps)],
    ['PUT', '/api/v2/me/password', setPassword(deps)],
    ['GET', '/api/v2/me/tokens', listTokens(deps)],
    ['POST', '/api/v2/me/tokens', createToken(deps)],
    ['DELETE', '/api/v2/me/tokens/:token', deleteToken(deps)],

    ['GET', '/api/v2/tenants', listTenants(deps)],
    ['POST', '/api/v2/tenants', createTenant(deps)],
    ['DELETE', tenant, deleteTenant(deps)],
    ['GET', `${tenant}/members`, listMembers(deps)],
    ['POST', `${tenant}/members`, setMember(deps)],
    ['DELETE', `${tenant}/members/:person`, removeMember(deps)],
    ['GET', `${tenant}/teams`, listTeams(deps)],
    ['POST', `${tenant}/teams`, createTeam(deps)],
    ['DELETE', `${tenant}/teams/:team`, deleteTeam(deps)],
    ['GET', `${tenant}/teams/:team/members`, listTeamMembers(deps)],
    ['POST', `${tenant}/teams/:team/members`, setTeamMember(deps)],
    ['DELETE', `${tenant}/teams/:team/members/:person`, removeTeamMember(deps)],
    ['GET', `${tenant}/audit`, listAudit(deps)],

    ['GET', `${tenant}/projects`, listProjects(deps)],
    ['POST', `${tenant}/projects`, createProject(deps)],
    ['DELETE', project, deleteProject(deps)],
    ['GET', `${project}/grants`, listGrants(deps)],
    ['POST', `${project}/grants`, setGrant(deps)],
    ['DELETE', `${project}/grants/:person`, removeGrant(deps)],
    ['GET', `${project}/assignments`, listAssignments(deps)],
    ['PUT', `${project}/assignments/:product`, assignProduct(deps)],
    ['DELETE', `${project}/assignments/:product`, unassignProduct(deps)],

    ['GET', `${tenant}/keys`, listKeys(deps)],
    ['POST', `${tenant}/keys`, createKey(deps)],
    ['GET', `${tenant}/keys/:key`, readKey(deps)],
    ['POST', `${tenant}/keys/:key/revoke`, revokeKey(deps)],

    ['GET', `${project}/wallet`, readWallet(deps)],
    ['POST', `${project}/wallet/fundings`, fundWallet(deps)],
    ['GET', `${project}/usage`, readUsage(deps)],
    ['GET', `${project}/invocations`, listInvocations(deps)],
    ['GET', `${project}/invocations/:invocation`, readInvocation(deps)],

    ['GET', `${project}/sandboxes`, listSandboxes(deps)],
    ['POST', `${project}/sandboxes`, createSandbox(deps)],
    ['GET', sandbox, readSandbox(deps)],
    ['PATCH', sandbox, changeSandbox(deps)],
    ['GET', `${sandbox}/revisions`, listRevisions(deps)],
    ['POST', `${sandbox}/revisions`, saveRevision(deps)],
    ['GET', `${sandbox}/revisions/:number`, readRevisionOf(deps)],
    ['POST', `${sandbox}/revisions/:number/activate`, activateRevision(deps)],
    ['POST', `${sandbox}/execute`, executeSandbox(deps)],
    ['GET', `${sandbox}/executions`, listExecutions(deps)],
    ['GET', `${project}/executions/:execution`, readExecution(deps)],

    ['GET', '/api/v2/products', listProducts(deps)],
    ['POST', '/api/v2/products', createProduct(deps)],
    ['PATCH', '/api/v2/products/:product', changeProduct(deps)],
  ]

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
    // Told, and no reason to send people elsewhere: tokens and passwords work without the provider.
    const away = deps.provider?.isReached() === false && { limited: { 'sign-in provider': 'not reached' } }
    res.status(status).json({ ...body, ...away })
  })
  app.get('/metrics', async (_req, res) => void res.type('text/plain').send(await deps.metricsText()))

  app.use(giveRequestId(deps), observeRequests(deps), refuseForeignPages(deps))
  app.get(['/', '/console', '/console/*file'], consolePage())
  mountRoutes(app, open)
  app.use('/api/v2', authenticate(deps))
  mountRoutes(app, signedIn)
  app.use(nothingHere)
  app.use(answerFailure(deps))
  return app
}
