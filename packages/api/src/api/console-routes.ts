import { z } from 'zod'
import { admissionCheck, checkBody } from '../admission-check.ts'
import { exampleIds, exampleValues } from '../example-ids.ts'
import {
  keyNameBody,
  keyQuery,
  keyRecord,
  newKeyBody,
  rotateBody,
  leakedSecretsBody,
  receivedReport,
} from '../console/keys.ts'
import {
  correctionBody,
  fundingBody,
  invocationPage,
  invocationQuery,
  invocationRecord,
  usageQuery,
  usageReport,
  walletShape,
} from '../console/money.ts'
import {
  acceptInvitationBody,
  createdInvitation,
  invitationRecord,
  invitationSecretBody,
  memberPatch,
  memberRecord,
  newInvitationBody,
  newTeamBody,
  newTeamMemberBody,
  newTenantBody,
  openInvitation,
  teamMemberRecord,
  teamRecord,
  tenantPatch,
  tenantRecord,
  appointmentRecord,
  removalQuery,
  removalRecord,
  tenantWebhookQuery,
  tenantWebhookRecord,
} from '../console/users.ts'
import { capturedContent } from '../console/capture.ts'
import { budgetBody, budgetRecord } from '../console/budgets.ts'
import { newProductBody, productPatch, productRecord } from '../console/products.ts'
import {
  deliveryQuery,
  newWebhookBody,
  noticeRecord,
  noticeThresholds,
  rotateSecretBody,
  webhookDelivery,
  webhookRecord,
} from '../console/notices.ts'
import { latestRefusals, refusalCounts, refusalQuery } from '../console/refusals.ts'
import { pendingSignIn, secondFactorCodeBody } from '../console/second-factor.ts'
import { quotaPatch, quotaRecords } from '../quotas.ts'
import {
  assignmentRecord,
  grantRecord,
  newGrantBody,
  newProjectBody,
  projectPatch,
  projectQuery,
  projectRecord,
} from '../console/projects.ts'
import {
  completeResetBody,
  oidcRedirectQuery,
  meRecord,
  newSignInCodeBody,
  newTokenBody,
  passwordBody,
  redeemedSignInCodeBody,
  resetBody,
  resetLink,
  signInBody,
  signInCode,
  signInMethods,
  tokenOfCode,
  tokenRecord,
} from '../console/sign-in.ts'
import { consoleAuditRoutes, consolePlatformRoutes } from './console-platform-routes.ts'
import { consoleAssetRoutes, consoleBooksRoutes, consoleTokenRoutes } from './console-resource-routes.ts'
import type { ApiRoute } from './api-route.ts'
import { consoleFlowRoutes } from './console-flow-routes.ts'
import { consoleSecurityRoutes } from './console-security-routes.ts'
import {
  byOperator,
  bySession,
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

const signIn = route('Sign-in', 'account')
const users = route('Users', 'organization')
const projects = route('Projects', 'projects')
const keys = route('Keys', 'keys')
const money = route('Money', 'money')
const notices = route('Notices', 'notices')
const catalogue = route('Catalogue', 'catalogue')

/** A user without teams and projects. */
const newMember = {
  id: exampleIds.user,
  email: exampleValues.newEmail,
  name: 'Grace',
  platformOperator: false,
  traceUrl: null,
  permissions: null,
  scopes: null,
  secondFactor: false,
  tenants: [{ id: exampleIds.tenant, name: 'Acme', role: 'Member', needsSecondFactor: false, teams: [], projects: [] }],
}

/** What a user does with a personal token or a session of the web console. Unknown fields are refused. */
export const consoleRoutes = {
  readSignInMethods: signIn('GET', '/api/v2/session', 'Read the sign-in methods', one(signInMethods), {
    by: 'anyone',
  }),
  signIn: signIn(
    'POST',
    '/api/v2/session',
    'Sign in with email and password',
    {
      ...made(meRecord),
      202: {
        description: 'The user has a second factor: send its code to POST /api/v2/session/second-factor',
        body: pendingSignIn,
      },
    },
    {
      ...sent(signInBody, 'sign_in_failed', 'rate_limited'),
      by: 'anyone',
      description: 'The session is a cookie. It ends twelve hours after its last use, and after thirty days.',
    },
  ),
  completeSignIn: signIn(
    'POST',
    '/api/v2/session/second-factor',
    'Complete a sign-in with a code of the second factor',
    made(meRecord),
    {
      ...sent(secondFactorCodeBody, 'second_factor_failed', 'rate_limited'),
      by: 'anyone',
      description:
        'In the browser that signed in by password or provider, within ten minutes: with a code of the authenticator app, or a recovery code.',
    },
  ),
  signOut: signIn('DELETE', '/api/v2/session', 'Sign out', done, bySession),
  oidcRedirect: signIn(
    'GET',
    '/api/v2/session/oidc',
    'Redirect to the sign-in provider',
    { 303: { description: 'Redirect to the provider' } },
    { by: 'anyone', query: oidcRedirectQuery, refusals: ['invalid_request', 'not_found'] },
  ),
  oidcCallback: signIn(
    'GET',
    '/api/v2/session/oidc/callback',
    'Return from the sign-in provider',
    { 303: { description: 'Redirect to the console, signed in' } },
    { by: 'anyone', refusals: ['sign_in_failed', 'not_permitted', 'not_found'] },
  ),
  requestReset: signIn(
    'POST',
    '/api/v2/session/reset',
    'Request a password reset link',
    { 202: { description: 'A mail is sent if an account has this email' } },
    {
      ...sent(resetBody, 'rate_limited'),
      by: 'anyone',
      description:
        'The response is the same for every email. Without a mail server, the platform operator creates the link.',
    },
  ),
  completeReset: signIn('POST', '/api/v2/session/reset/complete', 'Reset a password', done, {
    ...sent(completeResetBody, 'rate_limited'),
    by: 'anyone',
    description:
      'The link works once, for an hour. All sessions, codes and personal tokens of the user end, and what the tokens made.',
  }),
  createResetLink: signIn('POST', '/api/v2/password-resets', 'Create a password reset link', made(resetLink), {
    ...sent(resetBody, 'not_permitted'),
    ...bySession,
    description: 'Requires the platform operator role. Replaces an earlier link.',
  }),
  readInvitation: signIn('POST', '/api/v2/invitations/read', 'Read an invitation', one(openInvitation), {
    ...sent(invitationSecretBody, 'rate_limited'),
    by: 'anyone',
    description: 'With the secret in its link, which works once, for 72 hours.',
  }),
  acceptInvitation: signIn('POST', '/api/v2/invitations/accept', 'Accept an invitation as a new user', made(meRecord), {
    ...sent(acceptInvitationBody, 'already_exists', 'rate_limited'),
    by: 'anyone',
    description: 'Creates the account and signs in.',
    example: { answer: newMember },
  }),
  signInWithInvitation: signIn(
    'POST',
    '/api/v2/invitations/sign-in',
    'Accept an invitation with the next single sign-on',
    done,
    {
      ...sent(invitationSecretBody, 'rate_limited', 'not_found'),
      by: 'anyone',
      description: 'In this browser, within ten minutes, with an account that has the email of the invitation.',
    },
  ),
  joinOrganization: signIn('POST', '/api/v2/me/invitations', 'Accept an invitation', made(meRecord), {
    ...sent(invitationSecretBody, 'not_permitted'),
    description: 'Requires the email of the invitation.',
    example: { answer: newMember },
  }),
  readMe: signIn('GET', '/api/v2/me', 'Read the current user and their roles', one(meRecord), {
    scopes: [],
    description: 'A service token has the roles of a user who can create such tokens, limited to `permissions`.',
  }),
  setPassword: signIn(
    'PUT',
    '/api/v2/me/password',
    'Set your password',
    done,
    sent(passwordBody, 'sign_in_failed', 'rate_limited'),
  ),
  listTokens: signIn('GET', '/api/v2/me/tokens', 'List your personal tokens', page(tokenRecord), paged),
  createToken: signIn('POST', '/api/v2/me/tokens', 'Create a personal token', made(withSecret('token', tokenRecord)), {
    ...sentOnce(newTokenBody),
    ...bySession,
    description:
      'It may do what the user may, in its scopes; by default it reads. It ends with the password of the user, and what it makes ends with it.',
  }),
  deleteToken: signIn('DELETE', '/api/v2/me/tokens/{token}', 'Delete a personal token', done, {
    scopes: [],
    description:
      'A token deletes itself, and with the scope `account:write` others of its user. The keys, service tokens and invitations that it made end too.',
  }),
  createSignInCode: signIn(
    'POST',
    '/api/v2/me/sign-in-codes',
    'Authorize a program on your machine',
    made(signInCode),
    {
      ...sent(newSignInCodeBody),
      ...bySession,
      description:
        'The code is single use, expires in five minutes, and works only for the program that has the verifier.',
    },
  ),
  redeemSignInCode: signIn(
    'POST',
    '/api/v2/session/tokens',
    'Exchange a sign-in code for a personal token',
    made(tokenOfCode),
    { ...sent(redeemedSignInCodeBody, 'rate_limited'), by: 'anyone' },
  ),

  ...consoleSecurityRoutes,

  listTenants: users('GET', '/api/v2/tenants', 'List your organizations', page(tenantRecord), paged),
  createTenant: users('POST', '/api/v2/tenants', 'Create an organization', made(tenantRecord), {
    ...sentOnce(newTenantBody),
    ...byOperator('organization'),
  }),
  changeTenant: users('PATCH', tenant, 'Change an organization', one(tenantRecord), {
    ...sent(tenantPatch),
    description:
      'By an Admin. With `requireSecondFactor`, everything in the organization is refused to members who have not signed in with a second factor, and to their personal tokens. Keys and service tokens continue.',
  }),
  deleteTenant: users('DELETE', tenant, 'Delete an empty organization', done, {
    ...byOperator('organization'),
    refusals: ['not_empty'],
  }),
  listMembers: users('GET', `${tenant}/members`, 'List members', page(memberRecord), paged),
  changeMember: users(
    'PATCH',
    `${tenant}/members/{user}`,
    'Change the role of a member',
    one(memberRecord),
    sent(memberPatch, 'last_admin'),
  ),
  removeMember: users('DELETE', `${tenant}/members/{user}`, 'Remove a member', one(removalRecord), {
    query: removalQuery,
    refusals: ['invalid_request', 'last_admin'],
    description:
      'Also ends the roles of the user in teams and projects; adding the user again does not restore them. Keys, service tokens and webhooks that the user created remain unless `end` names them. The response counts both.',
  }),
  suspendMember: users('POST', `${tenant}/members/{user}/suspend`, 'Suspend a member', one(memberRecord), {
    refusals: ['last_admin'],
    description:
      'By an Admin. Until resumed, the member has no access to the organization, and the keys that they created are refused from the next call on. Roles and grants stay.',
  }),
  resumeMember: users('POST', `${tenant}/members/{user}/resume`, 'Resume a suspended member', one(memberRecord)),
  listInvitations: users('GET', `${tenant}/invitations`, 'List open invitations', page(invitationRecord), paged),
  createInvitation: users('POST', `${tenant}/invitations`, 'Invite an email', made(createdInvitation), {
    ...sentOnce(newInvitationBody, 'already_exists', 'rate_limited'),
    description:
      'Its owner becomes a member by accepting: as a new user with a name and a password, through single sign-on, or signed in.',
  }),
  resendInvitation: users(
    'POST',
    `${tenant}/invitations/{invitation}/resend`,
    'Send an invitation again',
    one(createdInvitation),
    {
      refusals: ['rate_limited'],
      description: 'With a new link for another 72 hours. The previous link stops working.',
    },
  ),
  revokeInvitation: users('DELETE', `${tenant}/invitations/{invitation}`, 'Revoke an invitation', done),
  listTeams: users('GET', `${tenant}/teams`, 'List teams', page(teamRecord), paged),
  createTeam: users('POST', `${tenant}/teams`, 'Create a team', made(teamRecord), sentOnce(newTeamBody)),
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
    'Add a member to a team or change their role',
    madeOrChanged(teamMemberRecord),
    sent(newTeamMemberBody),
  ),
  removeTeamMember: users('DELETE', `${tenant}/teams/{team}/members/{user}`, 'Remove a member from a team', done),
  listBudgets: money('GET', `${tenant}/budgets`, 'List monthly budgets', page(budgetRecord), paged),
  setBudget: money('PUT', `${tenant}/budgets`, 'Set the monthly budget of a user, team or tag', one(budgetRecord), {
    ...sent(budgetBody),
    description:
      'Requires an Admin. A budget counts the calls of all projects that are admitted from its creation on. A hard one refuses calls beyond it.',
  }),
  removeBudget: money('DELETE', `${tenant}/budgets/{budget}`, 'Remove a monthly budget', done),
  ...consoleAuditRoutes,
  ...consolePlatformRoutes,

  listProjects: projects('GET', `${tenant}/projects`, 'List projects', page(projectRecord), {
    ...paged,
    query: projectQuery,
  }),
  createProject: projects('POST', `${tenant}/projects`, 'Create a project', made(projectRecord), {
    ...sentOnce(newProjectBody),
    description:
      'Without `team`, the project belongs to the first team of its creator. The creator becomes its Project Owner. Its wallet is empty.',
  }),
  changeProject: projects('PATCH', project, 'Change a project', one(projectRecord), {
    ...sent(projectPatch),
    description:
      'Requires a Project Owner. Assets older than `assetRetentionDays` are deleted within minutes; `rates` take effect within ten seconds; without `keySelfRotation` only users can rotate keys of the project.',
  }),
  deleteProject: projects('DELETE', project, 'Delete a project', done, {
    refusals: ['not_empty'],
    description:
      'Also deletes its keys, flows, revisions, roles and service tokens. What is left in its wallet can no longer be spent. Refused while one of its executions is open.',
  }),
  readQuotas: projects('GET', `${project}/quotas`, 'Read the quotas of a project', one(quotaRecords), {
    description: 'Requires a grant on the project, or a platform operator.',
  }),
  changeQuotas: projects('PATCH', `${project}/quotas`, 'Change quotas of a project', one(quotaRecords), {
    ...sent(quotaPatch),
    ...byOperator('projects'),
    description:
      'Requires a platform operator. A quota below the current use deletes nothing; it refuses further additions.',
  }),
  listGrants: projects('GET', `${project}/grants`, 'List grants', page(grantRecord), paged),
  setGrant: projects(
    'POST',
    `${project}/grants`,
    'Grant a member a role or change it',
    {
      ...madeOrChanged(grantRecord),
      202: { description: 'Appointed; becomes an owner later', body: appointmentRecord },
    },
    {
      ...sent(newGrantBody),
      description:
        'Requires a Project Owner. An Admin or a platform operator may only appoint an owner for a project without one. If the project had one before, an appointment by an Admin takes effect after a delay (202), during which the former owners and the Admins may object.',
    },
  ),
  removeGrant: projects('DELETE', `${project}/grants/{user}`, 'Remove a grant', done, {
    description: 'Keys that the user created are refused from the next call on.',
  }),
  listAppointments: projects(
    'GET',
    '/api/v2/me/appointments',
    'List pending appointments of owners',
    page(appointmentRecord),
    {
      ...paged,
      description: 'Of projects that the caller owned, and of organizations whose Admin the caller is.',
    },
  ),
  objectToAppointment: projects(
    'DELETE',
    '/api/v2/me/appointments/{project}',
    'Object to the appointment of an owner',
    done,
    {
      description:
        'Requires a former owner of the project or an Admin. After an objection only a platform operator appoints an owner. The Admin who made the appointment cancels it instead.',
    },
  ),
  listAssignments: projects('GET', `${project}/assignments`, 'List assigned products', page(assignmentRecord), paged),
  assignProduct: projects(
    'PUT',
    `${project}/assignments/{product}`,
    'Assign a product',
    madeOrChanged(assignmentRecord),
  ),
  unassignProduct: projects('DELETE', `${project}/assignments/{product}`, 'Remove an assignment', done),

  listKeys: keys('GET', `${tenant}/keys`, 'List the keys that you can manage', page(keyRecord), {
    ...paged,
    query: keyQuery,
  }),
  createKey: keys('POST', `${tenant}/keys`, 'Create a key', made(withSecret('key', keyRecord)), {
    ...sentOnce(newKeyBody, 'quota_reached', 'project_required', 'key_issuer_denied', 'resource_not_eligible'),
    description: 'The key is bound to its project permanently.',
  }),
  readKey: keys('GET', `${tenant}/keys/{key}`, 'Read a key', one(keyRecord)),
  renameKey: keys('PATCH', `${tenant}/keys/{key}`, 'Rename a key', one(keyRecord), sent(keyNameBody)),
  pauseKey: keys('POST', `${tenant}/keys/{key}/pause`, 'Pause a key', one(keyRecord), {
    refusals: ['key_not_active'],
    description:
      'The key is refused from the next call on, on every replica, until it is resumed. Repeating it changes nothing.',
  }),
  resumeKey: keys('POST', `${tenant}/keys/{key}/resume`, 'Resume a paused key', one(keyRecord), {
    refusals: ['key_not_active', 'key_issuer_denied'],
    description: 'Requires what issuing a key requires, of the user and of the creator. Repeating it changes nothing.',
  }),
  revokeKey: keys('POST', `${tenant}/keys/{key}/revoke`, 'Revoke a key', one(keyRecord), {
    refusals: ['key_not_active'],
    description: 'The key is refused from the next call on, on every replica.',
  }),
  rotateKey: keys(
    'POST',
    `${tenant}/keys/{key}/rotate`,
    'Replace the secret of a key',
    made(z.strictObject({ key: keyRecord, secret })),
    {
      ...sent(rotateBody, 'key_not_active', 'key_unbound', 'key_issuer_denied', 'rotation_forbidden'),
      by: 'key or user',
      description:
        'The new key has the same project, policy, allowlist, limit, lifetime and meter. Allowed for users with the permission, and for the key itself if the project allows it; then no key of the chain ends later than 365 days after a user last issued one. Each rotation raises an alert.',
    },
  ),
  reportLeakedSecrets: keys(
    'POST',
    '/api/v2/leaked-secrets',
    'Report secrets that were found in public',
    { 200: { description: 'Received: those that work are revoked', body: receivedReport } },
    {
      ...sent(leakedSecretsBody, 'rate_limited'),
      maxBodyBytes: 64 * 1024,
      by: 'anyone',
      description:
        "For secret scanners, in the format of GitHub's partner programme, and for anyone who finds one: having a secret is enough to end it. Keys are refused from the next call on, tokens from the next request. Their owners see where they were found. The response is the same for known and unknown secrets.",
    },
  ),
  checkKey: keys(
    'POST',
    `${tenant}/keys/{key}/check`,
    'Test whether a call with a key would be admitted',
    one(admissionCheck),
    {
      ...sent(checkBody, 'not_permitted'),
      scopes: ['keys:read'],
      description:
        'Decides like the admission of the call, but reserves and writes nothing. For users who can see the key and the wallet. Tokens of the prompt are not counted here: if the model has a tokenizer, a call refused here for its bytes may still be admitted.',
    },
  ),

  readWallet: money('GET', `${project}/wallet`, 'Read the wallet', one(walletShape)),
  fundWallet: money('POST', `${project}/wallet/fundings`, 'Fund the wallet', madeOrChanged(walletShape), {
    ...sent(fundingBody, 'already_exists'),
    ...byOperator('money'),
    description: 'Takes effect once per funding ID: a repeat changes nothing, and a different amount is refused.',
  }),
  correctWallet: money(
    'POST',
    `${project}/wallet/corrections`,
    'Adjust the balance of the wallet',
    madeOrChanged(walletShape),
    {
      ...sent(correctionBody, 'already_exists', 'insufficient_budget'),
      ...byOperator('money'),
      description:
        'The amount is signed; a debit never exceeds the available balance. Takes effect once per correction ID: a repeat changes nothing.',
    },
  ),
  ...consoleBooksRoutes,
  readUsage: money(
    'GET',
    `${project}/usage`,
    'Read usage',
    {
      200: {
        ...one(usageReport)[200],
        ...csv(
          'time, if there is a step; the group; calls, tokens, charged_micro and errors; percentiles, if included',
          'time,model,calls,prompt_tokens,completion_tokens,charged_micro,errors',
          '2026-11-20T00:00:00+01:00,acme/swift,12,1204,640,1250,1',
        ),
      },
    },
    { query: usageQuery, refusals: ['invalid_request', 'usage_archived'] },
  ),
  countRefusals: money('GET', `${project}/refusals`, 'Count refusals of keys per hour', one(refusalCounts), {
    query: refusalQuery,
    refusals: ['invalid_request'],
    description:
      'Gateways report once a second, so counts are a few seconds late. Some are lost under overload: use them for diagnosis, not for accounting. Kept for 90 days.',
  }),
  listLatestRefusals: money('GET', `${project}/refusals/recent`, 'List the last 100 refusals', one(latestRefusals), {
    description:
      'Calls to the gateway with a key of the project, newest first. As delayed and incomplete as the counts.',
  }),
  listInvocations: money(
    'GET',
    `${project}/invocations`,
    'List calls, newest first',
    { 200: { description: 'One page', body: invocationPage } },
    {
      ...paged,
      query: invocationQuery,
    },
  ),
  readInvocation: money('GET', `${project}/invocations/{invocation}`, 'Read a call', one(invocationRecord)),
  readContent: money(
    'GET',
    `${project}/invocations/{invocation}/content`,
    'Read the captured prompt and answer of a call',
    one(capturedContent),
    {
      ...bySession,
      description:
        'Requires the right to read captured content, which a Project Owner gives with a grant. Each read is in the audit. 404 if nothing was captured, or its retention is over.',
    },
  ),

  readThresholds: notices('GET', `${project}/notices/thresholds`, 'Read the alert rules', one(noticeThresholds)),
  setThresholds: notices('PUT', `${project}/notices/thresholds`, 'Set the alert rules', one(noticeThresholds), {
    ...sent(noticeThresholds),
    description:
      'Requires a Project Owner. Each threshold raises one alert when it is crossed, and another when it is crossed again.',
  }),
  listNotices: notices('GET', `${project}/notices`, 'List alerts, newest first', page(noticeRecord), paged),
  listWebhooks: notices('GET', `${project}/webhooks`, 'List webhooks', page(webhookRecord), paged),
  createWebhook: notices(
    'POST',
    `${project}/webhooks`,
    'Create a webhook for alerts, or send them to Slack or by email',
    made(
      z.strictObject({
        webhook: webhookRecord,
        secret: secret.nullable().describe('shown only once; null for Slack and email, which are not signed'),
      }),
    ),
    {
      ...sent(newWebhookBody, 'quota_reached', 'rate_limited'),
      description:
        'Requires a Project Owner. Each alert is posted at least once, always with the same `webhook-id`, and signed with the secret according to the Standard Webhooks specification. Slack gets `{ "text": … }`.',
    },
  ),
  readWebhook: notices('GET', `${project}/webhooks/{webhook}`, 'Read a webhook', one(webhookRecord)),
  deleteWebhook: notices('DELETE', `${project}/webhooks/{webhook}`, 'Delete a webhook', done),
  rotateWebhookSecret: notices(
    'POST',
    `${project}/webhooks/{webhook}/rotate`,
    'Replace the secret of a webhook',
    made(z.strictObject({ webhook: webhookRecord, secret })),
    {
      ...sent(rotateSecretBody, 'rate_limited'),
      description:
        'Of the kind `standard`. Until the grace ends, each attempt is signed with the new secret and with the earlier ones: `webhook-signature` lists the signatures, separated by spaces. No delivery is lost.',
    },
  ),
  testWebhook: notices(
    'POST',
    `${project}/webhooks/{webhook}/test`,
    'Send a test alert to a webhook',
    made(webhookDelivery),
    {
      refusals: ['rate_limited'],
      description: 'An alert of the type `webhook.test`, delivered like any other, to this webhook only.',
    },
  ),
  listDeliveries: notices(
    'GET',
    `${project}/webhooks/{webhook}/deliveries`,
    'List deliveries to a webhook, newest alert first',
    page(webhookDelivery),
    { ...paged, query: deliveryQuery },
  ),
  resendDelivery: notices(
    'POST',
    `${project}/webhooks/{webhook}/deliveries/{notice}/resend`,
    'Resend an alert to a webhook',
    one(webhookDelivery),
    {
      refusals: ['rate_limited'],
      description: 'Immediately, with all attempts of a new delivery and the same `webhook-id`.',
    },
  ),

  listTenantWebhooks: notices(
    'GET',
    `${tenant}/webhooks`,
    'List the webhooks of all projects',
    page(tenantWebhookRecord),
    { ...paged, query: tenantWebhookQuery, description: 'Requires an Admin.' },
  ),
  deleteTenantWebhook: notices('DELETE', `${tenant}/webhooks/{webhook}`, 'Delete a webhook of any project', done, {
    description: 'Requires an Admin.',
  }),

  listProducts: catalogue('GET', '/api/v2/products', 'List products', page(productRecord), {
    ...paged,
    description: 'For members of any organization. Only platform operators see which providers serve a product.',
  }),
  createProduct: catalogue('POST', '/api/v2/products', 'Add a product', made(productRecord), {
    ...sentOnce(newProductBody, 'already_exists'),
    ...byOperator('catalogue'),
  }),
  changeProduct: catalogue('PATCH', '/api/v2/products/{product}', 'Change a product', one(productRecord), {
    ...sent(productPatch),
    ...byOperator('catalogue'),
  }),
  ...consoleFlowRoutes,
  ...consoleAssetRoutes,
  ...consoleTokenRoutes,
} as const satisfies Record<string, ApiRoute>

/** A row of the console by its operation name. */
export type ConsoleRoutes = typeof consoleRoutes
export type ConsoleOperation = keyof ConsoleRoutes
