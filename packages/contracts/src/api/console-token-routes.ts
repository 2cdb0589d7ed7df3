import { accessTokenRecord, newProjectTokenBody, newTenantTokenBody } from '../console/access-tokens.ts'
import { exampleIds } from '../example-ids.ts'
import type { ApiRoute } from './api-route.ts'
import { done, made, page, paged, project, route, sentOnce, tenant, withSecret } from './console-rows.ts'

const tokens = route('Tokens for programs')
const madeWithSecret = made(withSecret('token', accessTokenRecord))
const description =
  'It may do what it lists, there and nowhere else, until it expires or is deleted. It does not end with the membership of whoever made it, and hands out no access: no tokens, no keys, no roles.'

/** Tokens of an organization, which an Admin makes, and of a project, which a Project Owner does. */
export const consoleTokenRoutes = {
  listTenantTokens: tokens(
    'GET',
    `${tenant}/tokens`,
    'List the tokens of an organization',
    page(accessTokenRecord),
    paged,
  ),
  createTenantToken: tokens('POST', `${tenant}/tokens`, 'Make a token of an organization', madeWithSecret, {
    ...sentOnce(newTenantTokenBody),
    description,
  }),
  deleteTenantToken: tokens('DELETE', `${tenant}/tokens/{token}`, 'Delete a token of an organization', done, {
    example: { path: { token: exampleIds.accessToken } },
    description: 'It is refused from the next call on.',
  }),
  listProjectTokens: tokens('GET', `${project}/tokens`, 'List the tokens of a project', page(accessTokenRecord), paged),
  createProjectToken: tokens('POST', `${project}/tokens`, 'Make a token of a project', madeWithSecret, {
    ...sentOnce(newProjectTokenBody),
    description,
  }),
  deleteProjectToken: tokens('DELETE', `${project}/tokens/{token}`, 'Delete a token of a project', done, {
    example: { path: { token: exampleIds.accessToken } },
    description: 'It is refused from the next call on, and so are the further calls of executions that it began.',
  }),
} as const satisfies Record<string, ApiRoute>
