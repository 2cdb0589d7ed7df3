import { z } from 'zod'
import {
  assignmentRecord,
  auditRecord,
  fundingBody,
  grantRecord,
  invocationRecord,
  keyQuery,
  keyRecord,
  memberRecord,
  meRecord,
  newGrantBody,
  newKeyBody,
  newMemberBody,
  newProductBody,
  newProjectBody,
  newTeamBody,
  newTeamMemberBody,
  newTenantBody,
  newTokenBody,
  passwordBody,
  productPatch,
  productRecord,
  projectRecord,
  rotateBody,
  signInBody,
  signInMethods,
  teamMemberRecord,
  teamRecord,
  tenantRecord,
  tokenRecord,
  usageQuery,
  usageReport,
} from '../console.ts'
import type { ApiRoute } from './api-route.ts'
import { gone, made, madeOrChanged, one, page, paged, project, route, sent, tenant } from './console-rows.ts'

const micro = z.int().describe('micro-USD')
export const walletShape = z.strictObject({
  fundedMicro: micro,
  reservedMicro: micro,
  settledMicro: micro,
  availableMicro: micro,
})
const secret = z.string().describe('shown this once')
const withSecret = (name: string, record: z.ZodType) => z.strictObject({ [name]: record, secret })

const signIn = route('Sign-in')
const people = route('People')
const projects = route('Projects')
const keys = route('Keys')
const money = route('Money')
const catalogue = route('Catalogue')

/** What a person does, by a personal token or the session of the web console. Unknown fields are refused. */
export const consoleRoutes: ApiRoute[] = [
  signIn('GET', '/api/v2/session', 'Ask how people sign in here', one(signInMethods), { by: 'nobody' }),
  signIn('POST', '/api/v2/session', 'Sign in by e-mail and password', made(meRecord), {
    ...sent(signInBody, ['sign_in_failed', 'rate_limited']),
    by: 'nobody',
    description: 'The session is a cookie of twelve hours.',
  }),
  signIn('DELETE', '/api/v2/session', 'Sign out', gone),
  signIn(
    'GET',
    '/api/v2/session/oidc',
    'Go to the sign-in provider',
    { 302: { description: 'To the provider' } },
    { by: 'nobody' },
  ),
  signIn(
    'GET',
    '/api/v2/session/oidc/callback',
    'Come back from the sign-in provider',
    { 303: { description: 'To the console, signed in' } },
    { by: 'nobody', refusals: ['sign_in_failed', 'not_permitted'] },
  ),
  signIn('GET', '/api/v2/me', 'Ask who I am, with which rights', one(meRecord)),
  signIn('PUT', '/api/v2/me/password', 'Set my password', gone, sent(passwordBody, ['sign_in_failed', 'rate_limited'])),
  signIn('GET', '/api/v2/me/tokens', 'List my personal tokens', page(tokenRecord), paged),
  signIn(
    'POST',
    '/api/v2/me/tokens',
    'Make a personal token',
    made(withSecret('token', tokenRecord)),
    sent(newTokenBody),
  ),
  signIn('DELETE', '/api/v2/me/tokens/{token}', 'Delete a personal token', gone),

  people('GET', '/api/v2/tenants', 'List my organizations', page(tenantRecord), paged),
  people('POST', '/api/v2/tenants', 'Make an organization', made(tenantRecord), sent(newTenantBody)),
  people('DELETE', tenant, 'Delete an empty organization', gone, { refusals: ['not_empty'] }),
  people('GET', `${tenant}/members`, 'List members', page(memberRecord), paged),
  people(
    'POST',
    `${tenant}/members`,
    'Add a member, or give one another role',
    madeOrChanged(memberRecord),
    sent(newMemberBody, ['last_admin', 'already_exists']),
  ),
  people('DELETE', `${tenant}/members/{person}`, 'End a membership', gone, { refusals: ['last_admin'] }),
  people('GET', `${tenant}/teams`, 'List teams', page(teamRecord), paged),
  people('POST', `${tenant}/teams`, 'Make a team', made(teamRecord), sent(newTeamBody)),
  people('DELETE', `${tenant}/teams/{team}`, 'Delete a team without projects', gone, { refusals: ['not_empty'] }),
  people('GET', `${tenant}/teams/{team}/members`, 'List members of a team', page(teamMemberRecord), paged),
  people(
    'POST',
    `${tenant}/teams/{team}/members`,
    'Put a member into a team, or give it another role there',
    madeOrChanged(teamMemberRecord),
    sent(newTeamMemberBody),
  ),
  people('DELETE', `${tenant}/teams/{team}/members/{person}`, 'Take a member out of a team', gone),
  people('GET', `${tenant}/audit`, 'Read who changed what, and when', page(auditRecord), paged),

  projects('GET', `${tenant}/projects`, 'List projects', page(projectRecord), paged),
  projects('POST', `${tenant}/projects`, 'Make a project', made(projectRecord), {
    ...sent(newProjectBody),
    description:
      'It belongs to the first team of whoever makes it unless another is named, who becomes its Project Owner. Its wallet is empty.',
  }),
  projects('DELETE', project, 'Delete a project that holds nothing', gone, { refusals: ['not_empty'] }),
  projects('GET', `${project}/grants`, 'List grants', page(grantRecord), paged),
  projects(
    'POST',
    `${project}/grants`,
    'Grant a member a role, or another one',
    madeOrChanged(grantRecord),
    sent(newGrantBody),
  ),
  projects('DELETE', `${project}/grants/{person}`, 'Take a grant away', gone, {
    description: 'Keys that the person created are refused from the next call on.',
  }),
  projects('GET', `${project}/assignments`, 'List assigned products', page(assignmentRecord), paged),
  projects('PUT', `${project}/assignments/{product}`, 'Assign a product', madeOrChanged(assignmentRecord)),
  projects('DELETE', `${project}/assignments/{product}`, 'Take an assignment away', gone),

  keys('GET', `${tenant}/keys`, 'List the keys that I may manage', page(keyRecord), { ...paged, query: keyQuery }),
  keys('POST', `${tenant}/keys`, 'Issue a key', made(withSecret('key', keyRecord)), {
    ...sent(newKeyBody, ['project_required', 'key_issuer_denied', 'resource_not_eligible']),
    description: 'It is bound to its project for life.',
  }),
  keys('GET', `${tenant}/keys/{key}`, 'Read a key', one(keyRecord)),
  keys('POST', `${tenant}/keys/{key}/revoke`, 'Revoke a key', one(keyRecord), {
    refusals: ['key_not_active'],
    description: 'It is refused from the next call on, on every replica.',
  }),
  keys('POST', `${tenant}/keys/{key}/rotate`, 'Replace the secret of a key', made(withSecret('key', keyRecord)), {
    ...sent(rotateBody, ['key_not_active', 'key_unbound', 'key_issuer_denied']),
    by: 'key or person',
    description:
      'Same project, policy, allowlist, limit, expiry span and meter. By a person with the right, or by the key itself.',
  }),

  money('GET', `${project}/wallet`, 'Read the wallet', one(walletShape)),
  money('POST', `${project}/wallet/fundings`, 'Fund the wallet', madeOrChanged(walletShape), {
    ...sent(fundingBody),
    description: 'Once per funding id: the same again changes nothing.',
  }),
  money('GET', `${project}/usage`, 'Read what was used', one(usageReport), {
    query: usageQuery,
    refusals: ['invalid_request'],
  }),
  money('GET', `${project}/invocations`, 'List calls, newest first', page(invocationRecord), paged),
  money('GET', `${project}/invocations/{invocation}`, 'Read a call', one(invocationRecord)),

  catalogue('GET', '/api/v2/products', 'List products', page(productRecord), paged),
  catalogue('POST', '/api/v2/products', 'Add a product', made(productRecord), sent(newProductBody, ['already_exists'])),
  catalogue('PATCH', '/api/v2/products/{product}', 'Change a product', one(productRecord), sent(productPatch)),
]
