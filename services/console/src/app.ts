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
import type { ConsoleNeeds } from './needs.ts'
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
import { rightsChanger } from './rights/change-rights.ts'
import { openGate } from './rights/gate.ts'
import { barrierPasser } from './rights/pass-barrier.ts'
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
import { readSignInWays } from './sign-in/sign-in-ways.ts'
import { openThrottle } from './sign-in/throttle.ts'
import { createToken, deleteToken, listTokens } from './sign-in/tokens.ts'

/** The whole surface of the console, in order (decisions.md, 7). */
export function consoleApp(plain: ConsoleNeeds): Express {
  const needs = {
    ...plain,
    gate: openGate(plain),
    changeRights: rightsChanger(plain),
    passBarrier: barrierPasser(plain),
    throttle: openThrottle(plain),
    passwords: openPasswords(plain),
    session: sessionCookie(plain.publicUrl),
  }
  const tenant = '/api/v2/tenants/:tenant'
  const project = `${tenant}/projects/:project`
  const sandbox = `${tenant}/sandboxes/:sandbox`

  const { provider, publicUrl } = needs
  const throughProvider: Route[] =
    provider === undefined || publicUrl === undefined
      ? []
      : [
          ['GET', '/api/v2/session/oidc', goToProvider({ ...needs, provider, publicUrl })],
          ['GET', '/api/v2/session/oidc/callback', comeFromProvider({ ...needs, provider, publicUrl })],
        ]
  // These say by themselves who may ask.
  const open: Route[] = [
    ['GET', '/api/v2/session', readSignInWays(needs)],
    ['POST', '/api/v2/session', signIn(needs)],
    ['DELETE', '/api/v2/session', signOut(needs)],
    ...throughProvider,
    ['POST', `${tenant}/keys/:key/rotate`, rotateKey(needs)],
  ]
  const signedIn: Route[] = [
    ['GET', '/api/v2/me', readMe(needs)],
    ['PUT', '/api/v2/me/password', setPassword(needs)],
    ['GET', '/api/v2/me/tokens', listTokens(needs)],
    ['POST', '/api/v2/me/tokens', createToken(needs)],
    ['DELETE', '/api/v2/me/tokens/:token', deleteToken(needs)],

    ['GET', '/api/v2/tenants', listTenants(needs)],
    ['POST', '/api/v2/tenants', createTenant(needs)],
    ['DELETE', tenant, deleteTenant(needs)],
    ['GET', `${tenant}/members`, listMembers(needs)],
    ['POST', `${tenant}/members`, setMember(needs)],
    ['DELETE', `${tenant}/members/:person`, removeMember(needs)],
    ['GET', `${tenant}/teams`, listTeams(needs)],
    ['POST', `${tenant}/teams`, createTeam(needs)],
    ['DELETE', `${tenant}/teams/:team`, deleteTeam(needs)],
    ['GET', `${tenant}/teams/:team/members`, listTeamMembers(needs)],
    ['POST', `${tenant}/teams/:team/members`, setTeamMember(needs)],
    ['DELETE', `${tenant}/teams/:team/members/:person`, removeTeamMember(needs)],
    ['GET', `${tenant}/audit`, listAudit(needs)],

    ['GET', `${tenant}/projects`, listProjects(needs)],
    ['POST', `${tenant}/projects`, createProject(needs)],
    ['DELETE', project, deleteProject(needs)],
    ['GET', `${project}/grants`, listGrants(needs)],
    ['POST', `${project}/grants`, setGrant(needs)],
    ['DELETE', `${project}/grants/:person`, removeGrant(needs)],
    ['GET', `${project}/assignments`, listAssignments(needs)],
    ['PUT', `${project}/assignments/:product`, assignProduct(needs)],
    ['DELETE', `${project}/assignments/:product`, unassignProduct(needs)],

    ['GET', `${tenant}/keys`, listKeys(needs)],
    ['POST', `${tenant}/keys`, createKey(needs)],
    ['GET', `${tenant}/keys/:key`, readKey(needs)],
    ['POST', `${tenant}/keys/:key/revoke`, revokeKey(needs)],

    ['GET', `${project}/wallet`, readWallet(needs)],
    ['POST', `${project}/wallet/fundings`, fundWallet(needs)],
    ['GET', `${project}/usage`, readUsage(needs)],
    ['GET', `${project}/invocations`, listInvocations(needs)],
    ['GET', `${project}/invocations/:invocation`, readInvocation(needs)],

    ['GET', `${project}/sandboxes`, listSandboxes(needs)],
    ['POST', `${project}/sandboxes`, createSandbox(needs)],
    ['GET', sandbox, readSandbox(needs)],
    ['PATCH', sandbox, changeSandbox(needs)],
    ['GET', `${sandbox}/revisions`, listRevisions(needs)],
    ['POST', `${sandbox}/revisions`, saveRevision(needs)],
    ['GET', `${sandbox}/revisions/:number`, readRevisionOf(needs)],
    ['POST', `${sandbox}/revisions/:number/activate`, activateRevision(needs)],
    ['POST', `${sandbox}/execute`, executeSandbox(needs)],
    ['GET', `${sandbox}/executions`, listExecutions(needs)],
    ['GET', `${project}/executions/:execution`, readExecution(needs)],

    ['GET', '/api/v2/products', listProducts(needs)],
    ['POST', '/api/v2/products', createProduct(needs)],
    ['PATCH', '/api/v2/products/:product', changeProduct(needs)],
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
    const { status, body } = needs.readiness.live()
    res.status(status).json(body)
  })
  app.get('/health/ready', async (_req, res) => {
    const { status, body } = await needs.readiness.ready()
    // Told, and no reason to send people elsewhere: tokens and passwords work without the provider.
    const away = needs.provider?.isReached() === false && { limited: { 'sign-in provider': 'not reached' } }
    res.status(status).json({ ...body, ...away })
  })
  app.get('/metrics', async (_req, res) => void res.type('text/plain').send(await needs.metricsText()))

  app.use(giveRequestId(needs), observeRequests(needs), refuseForeignPages(needs))
  app.get(['/', '/console', '/console/*file'], consolePage())
  mountRoutes(app, open)
  app.use('/api/v2', authenticate(needs))
  mountRoutes(app, signedIn)
  app.use(nothingHere)
  app.use(answerFailure(needs))
  return app
}
