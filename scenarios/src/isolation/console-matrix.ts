import type { Asked } from './request-of.ts'
import { echo, PNG, type IdName, type KeyName, type UserName } from './isolation-fixture.ts'

// The response of each console route to each caller when the request names resources of the own project (rules §7.3).

export interface ConsoleRow extends Asked {
  /** Expected response to each user; a 2xx also means that the request took effect. */
  says: Record<UserName, string>
  /** Expected response to each key, if the route accepts keys. */
  keysSay?: Record<KeyName, string>
  /** Whether it takes a session: users send one, and their tokens are refused. */
  bySession?: true
  /** Resources of other projects of the tenant whose existence members may see. */
  sharedInTenant?: IdName[]
  /** Whether a platform operator sees the IDs and names of all projects in it. */
  namesProjects?: true
}

const row = (
  operator: string,
  admin: string,
  owner: string,
  consumer: string,
  viewer: string,
  neighbour: string,
  otherTenant: string,
  more: Omit<ConsoleRow, 'says'> = {},
): ConsoleRow => ({ says: { operator, admin, owner, consumer, viewer, neighbour, otherTenant }, ...more })

const NOT = '403 not_permitted'
const DENIED = '403 key_issuer_denied'
const GONE = '404 not_found'
const NONE = '404 sandbox_not_found'
const NO_EXECUTION = '404 execution_not_found'
const NO_ASSET = '404 asset_not_found'
const ANYBODY = (status: string, more: Omit<ConsoleRow, 'says'> = {}) =>
  row(status, status, status, status, status, status, status, more)

const tenant = '/api/v2/tenants/:tenant'
const project = `${tenant}/projects/:project`
const sandbox = `${tenant}/sandboxes/:sandbox`
const bySession = { bySession: true } as const
const users = { sharedInTenant: ['user', 'team', 'emptyTeam'] satisfies IdName[] }
const password = { password: 'correct horse battery' }
const code = { body: () => ({ code: '000000' }), ...bySession }
const WRONG = '401 second_factor_failed'
const price = { unit: 'request', request: '0.001' }
const newProduct = {
  kind: 'chat',
  name: 'New',
  ownedBy: 'acme',
  contextLength: 8_000,
  maxOutputTokens: 1_000,
  pricing: price,
}

/** A key rotates itself and nothing else. */
const rotatedByKeys: Record<KeyName, string> = {
  key: '201',
  neighbourKey: GONE,
  otherTenantKey: GONE,
  legacyKey: '403 key_unbound',
  revokedKey: '401 key_revoked',
  expiredKey: '401 key_expired',
  rotatedKey: '401 key_revoked',
}

/* oxfmt-ignore */
export const consoleMatrix: Record<string, ConsoleRow> = {
  //                                                        operator  admin  owner  consumer  viewer  neighbour  otherTenant
  'DELETE /api/v2/session':                                 ANYBODY('204', bySession),
  'GET /api/v2/me':                                         ANYBODY('200'),
  'POST /api/v2/me/invitations':                            ANYBODY('400 invalid_request', { body: () => ({ secret: 's'.repeat(43) }) }), // the secret in the link names an invitation
  'POST /api/v2/password-resets':                           row('404 not_found', NOT, NOT, NOT, NOT, NOT, NOT, { ...bySession, body: (_, fresh) => ({ email: `${fresh}@example.test` }) }),
  'PUT /api/v2/me/password':                                ANYBODY('204', { body: () => password }),
  'GET /api/v2/me/tokens':                                  ANYBODY('200'),
  'POST /api/v2/me/tokens':                                 ANYBODY('201', { body: () => ({ name: 'CI' }), ...bySession }),
  'POST /api/v2/me/sign-in-codes':                          ANYBODY('201', { body: () => ({ name: 'CI', challenge: 'c'.repeat(43) }), ...bySession }),
  'DELETE /api/v2/me/tokens/:token':                        row(GONE,  GONE,   '204', GONE, GONE,  GONE,   GONE),
  'GET /api/v2/me/sessions':                                ANYBODY('200'),
  'DELETE /api/v2/me/sessions':                             ANYBODY('204'),
  'DELETE /api/v2/me/sessions/:session':                    row(GONE,  GONE,   '204', GONE, GONE,  GONE,   GONE),
  'GET /api/v2/me/second-factor':                           ANYBODY('200'),
  'POST /api/v2/me/second-factor':                          ANYBODY('201', { body: () => ({}), ...bySession }),
  'POST /api/v2/me/second-factor/confirm':                  ANYBODY(WRONG, code),
  'POST /api/v2/me/second-factor/recovery-codes':           ANYBODY(WRONG, code),
  'POST /api/v2/me/second-factor/remove':                   ANYBODY(WRONG, code),

  'GET /api/v2/users':                                      row('200', NOT,    NOT, NOT, NOT,    NOT,    NOT),
  'POST /api/v2/users/:user/disable':                       row('200', NOT,    NOT, NOT, NOT,    NOT,    NOT),
  'POST /api/v2/users/:user/enable':                        row('200', NOT,    NOT, NOT, NOT,    NOT,    NOT),
  'DELETE /api/v2/users/:user/second-factor':               row(GONE,  NOT,    NOT, NOT, NOT,    NOT,    NOT, bySession),
  'GET /api/v2/operators':                                  row('200', NOT,    NOT, NOT, NOT,    NOT,    NOT),
  'POST /api/v2/operators':                                 row('201', NOT,    NOT, NOT, NOT,    NOT,    NOT, { body: ({ user }) => ({ user }), ...bySession }),
  'DELETE /api/v2/operators/:user':                         row(GONE,  NOT,    NOT, NOT, NOT,    NOT,    NOT, bySession),

  'GET /api/v2/tenants':                                    ANYBODY('200'),
  'POST /api/v2/tenants':                                   row('201', NOT,    NOT, NOT, NOT,    NOT,    NOT, { body: () => ({ name: 'New' }) }),
  [`PATCH ${tenant}`]:                                      row(NOT,   '200',  NOT, NOT, NOT,    NOT,    GONE, { body: () => ({ requireSecondFactor: false }) }),
  [`DELETE ${tenant}`]:                                     row('409 not_empty', NOT, NOT, NOT, NOT, NOT, GONE),
  [`GET ${tenant}/members`]:                                row(NOT,   '200',  '200', '200', '200',  '200',  GONE),
  [`PATCH ${tenant}/members/:user`]:                        row(NOT,   '200',  NOT, NOT, NOT,    NOT,    GONE, { body: () => ({ role: 'Member' }), ...users }),
  [`DELETE ${tenant}/members/:user`]:                     row(NOT,   '200',  NOT, NOT, NOT,    NOT,    GONE, users),
  [`POST ${tenant}/members/:user/suspend`]:                 row(NOT,   '200',  NOT, NOT, NOT,    NOT,    GONE, users),
  [`POST ${tenant}/members/:user/resume`]:                  row(NOT,   '200',  NOT, NOT, NOT,    NOT,    GONE, users),
  [`GET ${tenant}/invitations`]:                            row(NOT,   '200',  NOT, NOT, NOT,    NOT,    GONE),
  [`POST ${tenant}/invitations`]:                           row(NOT,   '201',  NOT, NOT, NOT,    NOT,    GONE, { body: (_, fresh) => ({ email: `${fresh}@example.test` }) }),
  [`POST ${tenant}/invitations/:invitation/resend`]:        row(NOT,   '200',  NOT, NOT, NOT,    NOT,    GONE),
  [`DELETE ${tenant}/invitations/:invitation`]:             row(NOT,   '204',  NOT, NOT, NOT,    NOT,    GONE),
  [`GET ${tenant}/teams`]:                                  row(NOT,   '200',  '200', '200', '200',  '200',  GONE),
  [`POST ${tenant}/teams`]:                                 row(NOT,   '201',  NOT, NOT, NOT,    NOT,    GONE, { body: () => ({ name: 'New' }) }),
  [`DELETE ${tenant}/teams/:team`]:                         row(NOT,   '204',  NOT, NOT, NOT,    NOT,    GONE, { path: { team: 'emptyTeam' }, ...users }),
  [`GET ${tenant}/teams/:team/members`]:                    row(NOT,   '200',  '200', '200', '200',  '200',  GONE, users),
  [`POST ${tenant}/teams/:team/members`]:                   row(NOT,   '200',  NOT, NOT, NOT,    NOT,    GONE, { body: ({ user }) => ({ user }), ...users }),
  [`DELETE ${tenant}/teams/:team/members/:user`]:         row(NOT,   '204',  NOT, NOT, NOT,    NOT,    GONE, users),
  [`GET ${tenant}/budgets`]:                                row(NOT,   '200',  NOT, NOT, NOT,    NOT,    GONE),
  [`PUT ${tenant}/budgets`]:                                row(NOT,   '200',  NOT, NOT, NOT,    NOT,    GONE, { body: ({ team }) => ({ kind: 'team', subject: team, limitMicro: 1_000_000, hard: false }), ...users }),
  [`DELETE ${tenant}/budgets/:budget`]:                     row(NOT,   '204',  NOT, NOT, NOT,    NOT,    GONE),
  [`GET ${tenant}/audit`]:                                  row(NOT,   '200',  NOT, NOT, NOT,    NOT,    GONE),
  [`GET ${tenant}/audit/export`]:                           row(NOT,   '200',  NOT, NOT, NOT,    NOT,    GONE),
  'GET /api/v2/me/audit':                                   ANYBODY('200'),
  'GET /api/v2/audit':                                      row('200', NOT,    NOT, NOT, NOT,    NOT,    NOT),
  'GET /api/v2/audit/export':                               row('200', NOT,    NOT, NOT, NOT,    NOT,    NOT),
  'GET /api/v2/providers':                                  row('200', NOT,    NOT, NOT, NOT,    NOT,    NOT),
  'POST /api/v2/providers/tests':                           row('201', NOT,    NOT, NOT, NOT,    NOT,    NOT, { body: ({ product }) => ({ provider: 'simulated', product }) }),
  'GET /api/v2/wallets':                                    row('200', NOT,    NOT, NOT, NOT,    NOT,    NOT, { namesProjects: true }),
  'GET /api/v2/revenue':                                    row('200', NOT,    NOT, NOT, NOT,    NOT,    NOT),

  [`GET ${tenant}/projects`]:                               row(NOT,   '200',  '200', '200', '200',  '200',  GONE),
  [`POST ${tenant}/projects`]:                              row(NOT,   '201',  NOT, NOT, NOT,    NOT,    GONE, { body: ({ team }) => ({ name: 'New', team }), ...users }),
  [`PATCH ${project}`]:                                     row(NOT,   NOT,    '200', NOT, NOT,  GONE,   GONE, { body: () => ({ assetRetentionDays: 30 }) }),
  [`DELETE ${project}`]:                                    row(NOT,   '204',  NOT, NOT, NOT,    GONE,   GONE),
  [`GET ${project}/quotas`]:                                row('200', NOT,    '200', '200', '200',  GONE,   GONE),
  [`PATCH ${project}/quotas`]:                              row('200', NOT,    NOT, NOT, NOT,    GONE,   GONE, { body: () => ({ keys: 500 }) }),
  [`GET ${tenant}/tokens`]:                                 row(NOT,   '200',  NOT, NOT, NOT,    NOT,    GONE),
  [`POST ${tenant}/tokens`]:                                row(NOT,   '201',  NOT, NOT, NOT,    NOT,    GONE, { body: () => ({ name: 'CI', permissions: ['audit.read'] }) }),
  [`DELETE ${tenant}/tokens/:token`]:                       row(NOT,   '204',  NOT, NOT, NOT,    NOT,    GONE, { path: { token: 'tenantToken' } }),
  [`GET ${project}/tokens`]:                                row(NOT,   NOT,    '200', NOT, NOT,  GONE,   GONE),
  [`POST ${project}/tokens`]:                               row(NOT,   NOT,    '201', NOT, NOT,  GONE,   GONE, { body: () => ({ name: 'CI', permissions: ['sandboxes.use'] }) }),
  [`DELETE ${project}/tokens/:token`]:                      row(NOT,   NOT,    '204', NOT, NOT,  GONE,   GONE, { path: { token: 'projectToken' } }),
  [`GET ${project}/grants`]:                                row(NOT,   '200',  '200', '200', '200',  GONE,   GONE),
  [`POST ${project}/grants`]:                               row(NOT,   NOT,    '200', NOT, NOT,  GONE,   GONE, { body: ({ user }) => ({ user, role: 'Project Viewer' }), ...users }),
  [`DELETE ${project}/grants/:user`]:                     row(NOT,   NOT,    '204', NOT, NOT,  GONE,   GONE),
  'GET /api/v2/me/appointments':                            ANYBODY('200'),
  'DELETE /api/v2/me/appointments/:project':                ANYBODY(GONE), // projects here have owners
  [`GET ${project}/assignments`]:                           row(NOT,   '200',  '200', '200', '200',  GONE,   GONE),
  [`PUT ${project}/assignments/:product`]:                  row(NOT,   '201',  NOT, NOT, NOT,    GONE,   GONE, { path: { product: 'newProduct' } }),
  [`DELETE ${project}/assignments/:product`]:               row(NOT,   '204',  NOT, NOT, NOT,    GONE,   GONE),

  [`GET ${tenant}/keys`]:                                   row('200', '200',  '200', '200', '200',  '200',  GONE),
  // Members of the organization see which of the three requirements they lack, and thereby that the project exists.
  [`POST ${tenant}/keys`]:                                  row(DENIED, DENIED, '201', '201', DENIED, DENIED, GONE, { body: (ids) => ({ project: ids.project }), sharedInTenant: ['project'] }),
  [`GET ${tenant}/keys/:key`]:                              row(GONE,  '200',  '200', GONE, GONE,  GONE,   GONE),
  [`PATCH ${tenant}/keys/:key`]:                            row(GONE,  '200',  '200', GONE, GONE,  GONE,   GONE, { body: () => ({ name: 'New' }) }),
  [`POST ${tenant}/keys/:key/pause`]:                       row(GONE,  '200',  '200', GONE, GONE,  GONE,   GONE),
  [`POST ${tenant}/keys/:key/resume`]:                      row(GONE,  DENIED, '200', GONE, GONE,  GONE,   GONE),
  [`POST ${tenant}/keys/:key/revoke`]:                      row(GONE,  '200',  '200', GONE, GONE,  GONE,   GONE),
  [`POST ${tenant}/keys/:key/rotate`]:                      row(GONE,  DENIED, '201', GONE, GONE,  GONE,   GONE, { keysSay: rotatedByKeys }),
  [`POST ${tenant}/keys/:key/check`]:                       row(GONE,  NOT,    '200', GONE, GONE,  GONE,   GONE, { body: () => ({ model: 'acme/none' }) }),

  [`GET ${project}/wallet`]:                                row('200', NOT,    '200', '200', '200',  GONE,   GONE),
  [`POST ${project}/wallet/fundings`]:                      row('201', NOT,    NOT, NOT, NOT,    GONE,   GONE, { body: (_, fundingId) => ({ fundingId, micro: 1 }) }),
  [`POST ${project}/wallet/corrections`]:                   row('201', NOT,    NOT, NOT, NOT,    GONE,   GONE, { body: (_, correctionId) => ({ correctionId, micro: 1, reason: 'r' }) }),
  [`GET ${project}/statement`]:                             row('200', NOT,    '200', '200', '200',  GONE,   GONE),
  [`GET ${project}/fundings`]:                              row('200', NOT,    '200', '200', '200',  GONE,   GONE),
  [`GET ${project}/journal`]:                               row(NOT,   NOT,    '200', '200', '200',  GONE,   GONE),
  [`GET ${project}/usage`]:                                 row(NOT,   NOT,    '200', '200', '200',  GONE,   GONE),
  [`GET ${project}/refusals`]:                              row(NOT,   NOT,    '200', '200', '200',  GONE,   GONE),
  [`GET ${project}/refusals/recent`]:                       row(NOT,   NOT,    '200', '200', '200',  GONE,   GONE),
  [`GET ${project}/invocations`]:                           row(NOT,   NOT,    '200', '200', '200',  GONE,   GONE),
  [`GET ${project}/invocations/:invocation`]:               row(NOT,   NOT,    '200', '200', '200',  GONE,   GONE),
  [`GET ${project}/invocations/:invocation/content`]:       row(NOT,   NOT,    NOT, NOT, NOT,    GONE,   GONE, bySession),

  [`GET ${project}/notices/thresholds`]:                    row(NOT,   NOT,    '200', '200', '200',  GONE,   GONE),
  [`PUT ${project}/notices/thresholds`]:                    row(NOT,   NOT,    '200', NOT, NOT,  GONE,   GONE, { body: () => ({ belowMicro: [1], daysLeft: 3, keyPercents: [80] }) }),
  [`GET ${project}/notices`]:                               row(NOT,   NOT,    '200', '200', '200',  GONE,   GONE),

  [`GET ${project}/webhooks`]:                              row(NOT,   NOT,    '200', NOT, NOT,  GONE,   GONE),
  [`POST ${project}/webhooks`]:                             row(NOT,   NOT,    '201', NOT, NOT,  GONE,   GONE, { body: () => ({ url: 'https://hooks.example.com/' }) }),
  [`GET ${project}/webhooks/:webhook`]:                     row(NOT,   NOT,    '200', NOT, NOT,  GONE,   GONE),
  [`DELETE ${project}/webhooks/:webhook`]:                  row(NOT,   NOT,    '204', NOT, NOT,  GONE,   GONE),
  [`POST ${project}/webhooks/:webhook/rotate`]:             row(NOT,   NOT,    '201', NOT, NOT,  GONE,   GONE, { body: () => ({}) }),
  [`POST ${project}/webhooks/:webhook/test`]:               row(NOT,   NOT,    '201', NOT, NOT,  GONE,   GONE),
  [`GET ${project}/webhooks/:webhook/deliveries`]:          row(NOT,   NOT,    '200', NOT, NOT,  GONE,   GONE),
  [`POST ${project}/webhooks/:webhook/deliveries/:notice/resend`]: row(NOT, NOT, '200', NOT, NOT, GONE,  GONE),

  [`GET ${tenant}/webhooks`]:                               row(NOT,   '200',  NOT, NOT, NOT,    NOT,    GONE),
  [`DELETE ${tenant}/webhooks/:webhook`]:                   row(NOT,   '204',  NOT, NOT, NOT,    NOT,    GONE),

  [`GET ${project}/sandboxes`]:                             row(GONE,  GONE,   '200', '200', GONE,  GONE,   GONE),
  [`GET ${project}/sandboxes/activity`]:                    row(GONE,  GONE,   '200', '200', GONE,  GONE,   GONE),
  [`POST ${project}/sandboxes`]:                            row(GONE,  GONE,   '201', '201', GONE,  GONE,   GONE, { body: () => ({ name: 'New' }) }),
  [`GET ${sandbox}`]:                                       row(NONE,  NONE,   '200', '200', NONE,  NONE,   NONE),
  [`PATCH ${sandbox}`]:                                     row(NONE,  NONE,   '200', '200', NONE,  NONE,   NONE, { body: () => ({ suspended: true }) }),
  [`GET ${sandbox}/revisions`]:                             row(NONE,  NONE,   '200', '200', NONE,  NONE,   NONE),
  [`POST ${sandbox}/revisions`]:                            row(NONE,  NONE,   '201', '201', NONE,  NONE,   NONE, { body: () => ({ graph: echo }) }),
  [`GET ${sandbox}/revisions/:number`]:                     row(NONE,  NONE,   '200', '200', NONE,  NONE,   NONE),
  [`POST ${sandbox}/revisions/:number/activate`]:           row(NONE,  NONE,   '200', '200', NONE,  NONE,   NONE),
  [`POST ${sandbox}/execute`]:                              row(NONE,  NONE,   '200', '200', NONE,  NONE,   NONE, { body: () => ({ input: { text: 'Hello' } }) }),
  [`POST ${sandbox}/estimate`]:                             row(NONE,  NONE,   '200', '200', NONE,  NONE,   NONE, { body: () => ({ input: { text: 'Hello' } }) }),
  [`GET ${sandbox}/executions`]:                            row(NONE,  NONE,   '200', '200', NONE,  NONE,   NONE),
  [`GET ${project}/executions`]:                            row(GONE,  GONE,   '200', '200', GONE,  GONE,   GONE),
  [`GET ${project}/executions/:execution`]:                 row(NO_EXECUTION, NO_EXECUTION, '200', '200', NO_EXECUTION, NO_EXECUTION, NO_EXECUTION),
  [`POST ${project}/executions/:execution/cancel`]:         row(NO_EXECUTION, NO_EXECUTION, '200', '200', NO_EXECUTION, NO_EXECUTION, NO_EXECUTION),
  [`POST ${project}/executions/:execution/rerun`]:          row(NO_EXECUTION, NO_EXECUTION, '200', '200', NO_EXECUTION, NO_EXECUTION, NO_EXECUTION, { body: () => ({ from: 'out' }) }),
  [`GET ${project}/executions/:execution/progress`]:        row(NO_EXECUTION, NO_EXECUTION, '200', '200', NO_EXECUTION, NO_EXECUTION, NO_EXECUTION),

  [`POST ${project}/assets`]:                               row(GONE,  GONE,   '201', '201', GONE,  GONE,   GONE, { body: () => PNG, headers: () => ({ 'content-type': 'image/png' }) }),
  [`GET ${project}/assets`]:                                row(GONE,  GONE,   '200', '200', GONE,  GONE,   GONE),
  [`GET ${tenant}/assets/:asset`]:                          row(NO_ASSET, NO_ASSET, '200', '200', NO_ASSET, NO_ASSET, NO_ASSET),
  [`DELETE ${tenant}/assets/:asset`]:                       row(NO_ASSET, NO_ASSET, '204', '204', NO_ASSET, NO_ASSET, NO_ASSET),

  'GET /api/v2/products':                                   ANYBODY('200'),
  'POST /api/v2/products':                                  row('201', NOT,    NOT, NOT, NOT,    NOT,    NOT, { body: (_, fresh) => ({ id: `acme/${fresh}`, ...newProduct, providers: [{ provider: 'simulated', model: 'sim', priority: 1 }] }) }),
  'PATCH /api/v2/products/:product':                        row('200', NOT,    NOT, NOT, NOT,    NOT,    NOT, { body: () => ({ name: 'Other' }) }),
}

/** Routes that ignore credentials, with their response to every caller. */
export const openRoutes: Record<string, string> = {
  'GET /health/live': '200',
  'GET /health/ready': '200',
  'GET /': '302',
  'GET /console': '200',
  'GET /console/*file': '200',
  'GET /api/v2/session': '200',
  'POST /api/v2/session': '400 invalid_request',
  'POST /api/v2/session/second-factor': '400 invalid_request',
  'GET /api/v2/session/oidc': '404 not_found', // there is no sign-in provider here
  'GET /api/v2/session/oidc/callback': '404 not_found',
  'POST /api/v2/session/reset': '400 invalid_request',
  'POST /api/v2/session/reset/complete': '400 invalid_request', // the secret in the link is the credential
  'POST /api/v2/invitations/read': '400 invalid_request',
  'POST /api/v2/invitations/accept': '400 invalid_request',
  'POST /api/v2/invitations/sign-in': '404 not_found', // there is no sign-in provider here
  'POST /api/v2/session/tokens': '400 invalid_request', // the code and its verifier are the credential
  'POST /api/v2/leaked-secrets': '400 invalid_request', // the secrets that it reports are
}
