import { assetListQuery, storedAsset } from '../console/assets.ts'
import type { ApiRoute } from './api-route.ts'
import { csv, done, made, one, page, paged, project, route, sentOnce, tenant, withSecret } from './console-rows.ts'
import { mediaTypes } from '../media-type.ts'
import { anyMedia, partOf, range } from './flow-routes.ts'
import { accessTokenRecord, newProjectTokenBody, newTenantTokenBody } from '../console/access-tokens.ts'
import { exampleIds } from '../example-ids.ts'
import { tenantTokenQuery } from '../console/users.ts'
import { pageQuery } from '../console/page.ts'
import { fundingQuery, fundingRecord, journalPage, statement, statementQuery } from '../console/statement.ts'

const asset = `${tenant}/assets/{asset}` as const
const assets = route('Assets of a project', 'assets')

/** Images and audio, for Project Owners and Consumers; other users see none. */
export const consoleAssetRoutes = {
  uploadAsset: assets('POST', `${project}/assets`, 'Upload an image, audio or PDF file', made(storedAsset), {
    bytes: mediaTypes,
    refusals: ['invalid_request', 'insufficient_budget', 'quota_reached', 'request_too_large'],
    description: 'The body is the file itself, at most 25,000,000 bytes; Content-Type names its type.',
  }),
  listAssets: assets('GET', `${project}/assets`, 'List assets, newest first', page(storedAsset), {
    ...paged,
    query: assetListQuery,
  }),
  readAsset: assets(
    'GET',
    asset,
    'Download an asset',
    { 200: { description: 'The whole file', also: anyMedia }, 206: partOf(anyMedia) },
    { headers: range, refusals: ['asset_not_found', 'range_not_satisfiable'] },
  ),
  deleteAsset: assets('DELETE', asset, 'Delete an asset', done, {
    refusals: ['asset_not_found'],
    description:
      'The asset can no longer be read or named in a new call. Executions in progress keep it; records still name it.',
  }),
} as const satisfies Record<string, ApiRoute>

const tokens = route('Service tokens', 'tokens')
const madeWithSecret = made(withSecret('token', accessTokenRecord))
const description =
  'The token has the listed permissions, in this organization or project only, until it expires or is deleted. It outlives the membership of its creator, but not a personal token that created it, and cannot grant access: no tokens, no keys, no roles.'

/** Service tokens: an Admin creates those of an organization, a Project Owner those of a project. */
export const consoleTokenRoutes = {
  listTenantTokens: tokens(
    'GET',
    `${tenant}/tokens`,
    'List the tokens of an organization and its projects',
    page(accessTokenRecord),
    { ...paged, query: tenantTokenQuery },
  ),
  createTenantToken: tokens('POST', `${tenant}/tokens`, 'Create a token of an organization', madeWithSecret, {
    ...sentOnce(newTenantTokenBody),
    description,
  }),
  deleteTenantToken: tokens(
    'DELETE',
    `${tenant}/tokens/{token}`,
    'Delete a token of an organization or a project of it',
    done,
    {
      example: { path: { token: exampleIds.accessToken } },
      description: 'The token is refused from the next call on.',
    },
  ),
  listProjectTokens: tokens('GET', `${project}/tokens`, 'List the tokens of a project', page(accessTokenRecord), paged),
  createProjectToken: tokens('POST', `${project}/tokens`, 'Create a token of a project', madeWithSecret, {
    ...sentOnce(newProjectTokenBody, 'quota_reached'),
    description,
  }),
  deleteProjectToken: tokens('DELETE', `${project}/tokens/{token}`, 'Delete a token of a project', done, {
    example: { path: { token: exampleIds.accessToken } },
    description: 'The token is refused from the next call on, and so are further calls of executions that it started.',
  }),
} as const satisfies Record<string, ApiRoute>

const money = route('Money', 'money')

/** What the ledger records of a project's money, for every user with a grant on the project (rules §7.7). */
export const consoleBooksRoutes = {
  readStatement: money(
    'GET',
    `${project}/statement`,
    'Read a statement',
    {
      200: {
        ...one(statement)[200],
        ...csv(
          'day, entry, model, tag, calls, amount_micro and balance_micro; the first line is the opening and the last one the closing balance',
          'day,entry,model,tag,calls,amount_micro,balance_micro',
          '2026-11-01,opening,,,,,4000000',
          '2026-11-20,charged,acme/swift,nightly-summaries,12,-1250,3998750',
          '2026-12-01,closing,,,,,3998750',
        ),
      },
    },
    {
      query: statementQuery,
      refusals: ['invalid_request', 'statement_archived'],
      description:
        'Opening balance + funded + corrected - charged = closing balance, from the journal. A call counts on the day of its settlement. The closing balance of one period is the opening balance of the next.',
    },
  ),
  listFundings: money(
    'GET',
    `${project}/fundings`,
    'List fundings and corrections, newest first',
    page(fundingRecord),
    {
      query: fundingQuery,
      refusals: ['invalid_request'],
    },
  ),
  listJournal: money(
    'GET',
    `${project}/journal`,
    'List the entries of the journal, newest first',
    { 200: { description: 'One page', body: journalPage } },
    {
      query: pageQuery,
      refusals: ['invalid_request'],
      description:
        'A seal is the SHA-256 of the previous seal, as bytes, followed by the lines `seq kind reference reserved settled -outside` of the entries since then, joined by line feeds.',
    },
  ),
} as const satisfies Record<string, ApiRoute>
