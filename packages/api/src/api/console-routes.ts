import { z } from 'zod'
import { admissionCheck, checkBody } from '../admission-check.ts'
import { keyQuery, keyRecord, newKeyBody, rotateBody } from '../console/keys.ts'
import {
  correctionBody,
  fundingBody,
  invocationQuery,
  invocationRecord,
  usageQuery,
  usageReport,
  walletShape,
} from '../console/money.ts'
import {
  auditQuery,
  auditRecord,
  memberRecord,
  newMemberBody,
  newTeamBody,
  newTeamMemberBody,
  newTenantBody,
  teamMemberRecord,
  teamRecord,
  tenantRecord,
} from '../console/users.ts'
import { newProductBody, productPatch, productRecord } from '../console/products.ts'
import { newWebhookBody, noticeRecord, noticeThresholds, webhookRecord } from '../console/notices.ts'
import { latestRefusals, refusalCounts, refusalQuery } from '../console/refusals.ts'
import { quotaPatch, quotaRecords } from '../quotas.ts'
import {
  assignmentRecord,
  grantRecord,
  newGrantBody,
  newProjectBody,
  projectPatch,
  projectRecord,
} from '../console/projects.ts'
import {
  oidcRedirectQuery,
  meRecord,
  newSignInCodeBody,
  newTokenBody,
  passwordBody,
  redeemedSignInCodeBody,
  signInBody,
  signInCode,
  signInMethods,
  tokenOfCode,
  tokenRecord,
} from '../console/sign-in.ts'
import { consoleAssetRoutes, consoleBooksRoutes, consoleTokenRoutes } from './console-resource-routes.ts'
import type { ApiRoute } from './api-route.ts'
import { consoleFlowRoutes } from './console-flow-routes.ts'
import {
  csv,
  done,
  made,
  madeOrChanged,
  one,
  page,
  paged,
  project,
  route,
  secret,
  sent,
  sentOnce,
  tenant,
  withSecret,
} from './console-rows.ts'

const signIn = route('Sign-in')
const users = route('Users')
const projects = route('Projects')
const keys = route('Keys')
const money = route('Money')
const notices = route('Notices')
const catalogue = route('Catalogue')

/** What a user does with a personal token or a session of the web console. Unknown fields are refused. */
export const consoleRoutes = {
  readSignInMethods: signIn('GET', '/api/v2/session', 'Ask how users sign in here', one(signInMethods), {
    by: 'anyone',
  }),
  signIn: signIn('POST', '/api/v2/session', 'Sign in by email and password', made(meRecord), {
    ...sent(signInBody, 'sign_in_failed', 'rate_limited'),
    by: 'anyone',
    description: 'The session is a cookie of twelve hours.',
  }),
  signOut: signIn('DELETE', '/api/v2/session', 'Sign out', done),
  oidcRedirect: signIn(
    'GET',
    '/api/v2/session/oidc',
    'Go to the sign-in provider',
    { 303: { description: 'To the provider' } },
    { by: 'anyone', query: oidcRedirectQuery, refusals: ['invalid_request', 'not_found'] },
  ),
  oidcCallback: signIn(
    'GET',
    '/api/v2/session/oidc/callback',
    'Come back from the sign-in provider',
    { 303: { description: 'To where the browser was in the console, signed in' } },
    { by: 'anyone', refusals: ['sign_in_failed', 'not_permitted', 'not_found'] },
  ),
  readMe: signIn('GET', '/api/v2/me', 'Ask who I am, with which roles', one(meRecord), {
    description:
      'A token of a program has the roles of anyone who makes such tokens, and `permissions` says what it may do of that.',
  }),
  setPassword: signIn(
    'PUT',
    '/api/v2/me/password',
    'Set my password',
    done,
    sent(passwordBody, 'sign_in_failed', 'rate_limited'),
  ),
  listTokens: signIn('GET', '/api/v2/me/tokens', 'List my personal tokens', page(tokenRecord), paged),
  createToken: signIn(
    'POST',
    '/api/v2/me/tokens',
    'Make a personal token',
    made(withSecret('token', tokenRecord)),
    sentOnce(newTokenBody),
  ),
  deleteToken: signIn('DELETE', '/api/v2/me/tokens/{token}', 'Delete a personal token', done),
  createSignInCode: signIn(
    'POST',
    '/api/v2/me/sign-in-codes',
    'Let a program on my machine have a personal token',
    made(signInCode),
    {
      ...sent(newSignInCodeBody),
      description: 'The code is good once, for five minutes, and only for the program that has the verifier.',
    },
  ),
  redeemSignInCode: signIn(
    'POST',
    '/api/v2/session/tokens',
    'Get the personal token of a sign-in code',
    made(tokenOfCode),
    { ...sent(redeemedSignInCodeBody, 'rate_limited'), by: 'anyone' },
  ),

  listTenants: users('GET', '/api/v2/tenants', 'List my organizations', page(tenantRecord), paged),
  createTenant: users('POST', '/api/v2/tenants', 'Make an organization', made(tenantRecord), sentOnce(newTenantBody)),
  deleteTenant: users('DELETE', tenant, 'Delete an empty organization', done, { refusals: ['not_empty'] }),
  listMembers: users('GET', `${tenant}/members`, 'List members', page(memberRecord), paged),
  setMember: users(
    'POST',
    `${tenant}/members`,
    'Add a member, or give one another role',
    madeOrChanged(memberRecord),
    sent(newMemberBody, 'last_admin', 'already_exists'),
  ),
  removeMember: users('DELETE', `${tenant}/members/{user}`, 'End a membership', done, { refusals: ['last_admin'] }),
  listTeams: users('GET', `${tenant}/teams`, 'List teams', page(teamRecord), paged),
  createTeam: users('POST', `${tenant}/teams`, 'Make a team', made(teamRecord), sentOnce(newTeamBody)),
  deleteTeam: users('DELETE', `${tenant}/teams/{team}`, 'Delete a team without projects', done, {
    refusals: ['not_empty'],
  }),
  listTeamMembers: users(
    'GET',
    `${tenant}/teams/{team}/members`,
    'List members of a team',
    page(teamMemberRecord),
    paged,
  ),
  setTeamMember: users(
    'POST',
    `${tenant}/teams/{team}/members`,
    'Put a member into a team, or give it another role there',
    madeOrChanged(teamMemberRecord),
    sent(newTeamMemberBody),
  ),
  removeTeamMember: users('DELETE', `${tenant}/teams/{team}/members/{user}`, 'Take a member out of a team', done),
  listAudit: users('GET', `${tenant}/audit`, 'Read who changed what, and when', page(auditRecord), {
    ...paged,
    query: auditQuery,
  }),

  listProjects: projects('GET', `${tenant}/projects`, 'List projects', page(projectRecord), paged),
  createProject: projects('POST', `${tenant}/projects`, 'Make a project', made(projectRecord), {
    ...sentOnce(newProjectBody),
    description:
      'It belongs to the first team of anyone who makes it unless another is named, who becomes its Project Owner. Its wallet is empty.',
  }),
  changeProject: projects('PATCH', project, 'Change a project', one(projectRecord), {
    ...sent(projectPatch),
    description:
      'By a Project Owner. Assets that are older than `assetRetentionDays` are deleted within minutes; `rates` bind within ten seconds.',
  }),
  deleteProject: projects('DELETE', project, 'Delete a project that holds nothing', done, { refusals: ['not_empty'] }),
  readQuotas: projects('GET', `${project}/quotas`, 'Read the quotas of a project', one(quotaRecords), {
    description: 'With a grant on the project, or as a platform operator.',
  }),
  changeQuotas: projects('PATCH', `${project}/quotas`, 'Change quotas of a project', one(quotaRecords), {
    ...sent(quotaPatch),
    description:
      'By a platform operator. A quota below what is stored deletes nothing; it refuses what would be added.',
  }),
  listGrants: projects('GET', `${project}/grants`, 'List grants', page(grantRecord), paged),
  setGrant: projects('POST', `${project}/grants`, 'Grant a member a role, or another one', madeOrChanged(grantRecord), {
    ...sent(newGrantBody),
    description: 'By a Project Owner. An Admin may only appoint an owner of a project that has none.',
  }),
  removeGrant: projects('DELETE', `${project}/grants/{user}`, 'Take a grant away', done, {
    description: 'Keys that the user created are refused from the next call on.',
  }),
  listAssignments: projects('GET', `${project}/assignments`, 'List assigned products', page(assignmentRecord), paged),
  assignProduct: projects(
    'PUT',
    `${project}/assignments/{product}`,
    'Assign a product',
    madeOrChanged(assignmentRecord),
  ),
  unassignProduct: projects('DELETE', `${project}/assignments/{product}`, 'Take an assignment away', done),

  listKeys: keys('GET', `${tenant}/keys`, 'List the keys that I may manage', page(keyRecord), {
    ...paged,
    query: keyQuery,
  }),
  createKey: keys('POST', `${tenant}/keys`, 'Issue a key', made(withSecret('key', keyRecord)), {
    ...sentOnce(newKeyBody, 'quota_reached', 'project_required', 'key_issuer_denied', 'resource_not_eligible'),
    description: 'It is bound to its project for life.',
  }),
  readKey: keys('GET', `${tenant}/keys/{key}`, 'Read a key', one(keyRecord)),
  revokeKey: keys('POST', `${tenant}/keys/{key}/revoke`, 'Revoke a key', one(keyRecord), {
    refusals: ['key_not_active'],
    description: 'It is refused from the next call on, on every replica.',
  }),
  rotateKey: keys(
    'POST',
    `${tenant}/keys/{key}/rotate`,
    'Replace the secret of a key',
    made(z.strictObject({ key: keyRecord, secret })),
    {
      ...sent(rotateBody, 'key_not_active', 'key_unbound', 'key_issuer_denied'),
      by: 'key or user',
      description:
        'Same project, policy, allowlist, limit, expiry span and meter. By a user with the permission, or by the key itself.',
    },
  ),
  checkKey: keys(
    'POST',
    `${tenant}/keys/{key}/check`,
    'Test whether a call with a key would be admitted',
    one(admissionCheck),
    {
      ...sent(checkBody, 'not_permitted'),
      description:
        'Decides as the admission of the call would, and reserves and writes nothing. For those who see the key and may read the wallet. The prompt is not counted here: a call that its bytes alone would refuse may be admitted, where the model names a tokenizer.',
    },
  ),

  readWallet: money('GET', `${project}/wallet`, 'Read the wallet', one(walletShape)),
  fundWallet: money('POST', `${project}/wallet/fundings`, 'Fund the wallet', madeOrChanged(walletShape), {
    ...sent(fundingBody, 'already_exists'),
    description: 'Once per funding id: the same again changes nothing, and another amount is refused.',
  }),
  correctWallet: money('POST', `${project}/wallet/corrections`, 'Put the wallet right', madeOrChanged(walletShape), {
    ...sent(correctionBody, 'already_exists', 'insufficient_budget'),
    description:
      'By an amount with a sign, and never by more than is available. Once per correction id: the same again changes nothing.',
  }),
  ...consoleBooksRoutes,
  readUsage: money(
    'GET',
    `${project}/usage`,
    'Read what was used',
    {
      200: {
        ...one(usageReport)[200],
        ...csv(
          'time, where there is a step; the group; calls, tokens and charged_micro',
          'time,model,calls,prompt_tokens,completion_tokens,charged_micro',
          '2026-11-20T00:00:00+01:00,acme/swift,12,1204,640,1250',
        ),
      },
    },
    { query: usageQuery, refusals: ['invalid_request', 'usage_archived'] },
  ),
  countRefusals: money('GET', `${project}/refusals`, 'Count what keys were refused, by the hour', one(refusalCounts), {
    query: refusalQuery,
    refusals: ['invalid_request'],
    description:
      'Gateways tell it once a second, so it is some seconds late. Under overload a part of it is lost: it is for looking, not for accounting. Kept for 90 days.',
  }),
  listLatestRefusals: money('GET', `${project}/refusals/recent`, 'List the last 100 refusals', one(latestRefusals), {
    description:
      'Newest first, of calls to the gateway with a key of the project. As late, and as lossy, as the counts.',
  }),
  listInvocations: money('GET', `${project}/invocations`, 'List calls, newest first', page(invocationRecord), {
    ...paged,
    query: invocationQuery,
  }),
  readInvocation: money('GET', `${project}/invocations/{invocation}`, 'Read a call', one(invocationRecord)),

  readThresholds: notices('GET', `${project}/notices/thresholds`, 'Read what is reported', one(noticeThresholds)),
  setThresholds: notices('PUT', `${project}/notices/thresholds`, 'Say what is to be reported', one(noticeThresholds), {
    ...sent(noticeThresholds),
    description: 'By a Project Owner. Each is reported once when it is crossed, and again when it is crossed again.',
  }),
  listNotices: notices('GET', `${project}/notices`, 'List notices, newest first', page(noticeRecord), paged),
  listWebhooks: notices('GET', `${project}/webhooks`, 'List webhooks', page(webhookRecord), paged),
  createWebhook: notices(
    'POST',
    `${project}/webhooks`,
    'Have notices posted to an address',
    made(z.strictObject({ webhook: webhookRecord, secret })),
    {
      ...sent(newWebhookBody, 'not_empty'),
      description:
        'By a Project Owner; up to five. Each notice is posted at least once, always with the same `webhook-id`, and signed with the secret by the Standard Webhooks specification.',
    },
  ),
  deleteWebhook: notices('DELETE', `${project}/webhooks/{webhook}`, 'Post no more notices to it', done),

  listProducts: catalogue('GET', '/api/v2/products', 'List products', page(productRecord), {
    ...paged,
    description: 'For members of any organization. What would show who serves a product is for the platform operator.',
  }),
  createProduct: catalogue(
    'POST',
    '/api/v2/products',
    'Add a product',
    made(productRecord),
    sent(newProductBody, 'already_exists'),
  ),
  changeProduct: catalogue(
    'PATCH',
    '/api/v2/products/{product}',
    'Change a product',
    one(productRecord),
    sent(productPatch),
  ),
  ...consoleFlowRoutes,
  ...consoleAssetRoutes,
  ...consoleTokenRoutes,
} as const satisfies Record<string, ApiRoute>

/** A row of the console by its operation name. */
export type ConsoleRoutes = typeof consoleRoutes
export type ConsoleOperation = keyof ConsoleRoutes
