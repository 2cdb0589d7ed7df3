import { revenueQuery, revenueReport, walletRow, walletsQuery } from '../console/platform-money.ts'
import { newProviderTest, providerQuery, providersReport, providerTest } from '../console/provider-health.ts'
import type { ApiRoute } from './api-route.ts'
import { byOperator, made, one, page, paged, route, sent, csv, tenant } from './console-rows.ts'
import type { z } from 'zod'
import {
  auditExportQuery,
  auditLine,
  auditQuery,
  auditRecord,
  platformAuditQuery,
  platformAuditRecord,
} from '../console/audit.ts'
import { pageOf } from '../console/page.ts'

const catalogue = route('Platform', 'catalogue')
const money = route('Platform', 'money')

/** What platform operators see across all organizations. */
export const consolePlatformRoutes = {
  listProviders: catalogue('GET', '/api/v2/providers', 'Read what providers answered', one(providersReport), {
    query: providerQuery,
    refusals: ['invalid_request'],
    scopes: ['catalogue:read', 'operator'],
    description:
      'Requires a platform operator. Calls, failures, latency and fallbacks of each provider, as gateways and workers reported them, in slots of five minutes.',
  }),
  testProvider: catalogue(
    'POST',
    '/api/v2/providers/tests',
    'Test a provider with a minimal call',
    made(providerTest),
    {
      ...sent(newProviderTest, 'not_found', 'rate_limited'),
      ...byOperator('catalogue'),
      description:
        'Requires a platform operator. A gateway or worker that has the provider makes the call within seconds; `GET /api/v2/providers` has its result. It is charged to no wallet. At most 10 a minute.',
    },
  ),
  listWallets: money('GET', '/api/v2/wallets', 'List the wallets of all projects', page(walletRow), {
    ...paged,
    query: walletsQuery,
    scopes: ['money:read', 'operator'],
    description: 'Requires a platform operator. A cursor belongs to one sort order.',
  }),
  readRevenue: money(
    'GET',
    '/api/v2/revenue',
    'Read revenue, provider costs and margin by product and month',
    one(revenueReport),
    {
      query: revenueQuery,
      refusals: ['invalid_request'],
      scopes: ['money:read', 'operator'],
      description:
        'Requires a platform operator. Charges of all projects, by the month of the admission. A cost that is not known is not counted as zero: the margin compares the calls whose cost is known.',
    },
  ),
} as const satisfies Record<string, ApiRoute>

const audit = route('Audit', 'organization')

const readByOperator = { scopes: ['organization:read', 'operator'] } as const

const table = csv(
  'the fields of an entry, `details` as JSON',
  'id,at,tenant,user,user_name,action,subject,outcome,request_id,address,device,details',
  '42,2026-11-20T09:00:00.000Z,ten_example,usr_example,Ada,key.create,key_example,succeeded,req_example,203.0.113.7,curl/8.16,{}',
)
const entriesOf = <Item extends z.ZodType>(item: Item) => ({
  200: {
    description: 'A page; with `format=csv` up to 10,000 entries',
    body: pageOf(item),
    also: table.also,
    headers: {
      ...table.headers,
      'Next-Cursor': 'With `format=csv`, where there is more: sent back as `cursor` for what comes after',
    },
  },
})
const entries = entriesOf(auditRecord)
const lines = { 200: { description: 'An entry a line, in order', also: { 'application/x-ndjson': auditLine } } }
const exported =
  'For a SIEM: repeat the request with the `position` of the last line to get the entries since. An entry appears only after all entries before it, and none is left out. The same `after` returns the same entries again; an empty response means that there are no newer ones.'

/** Who did what, when, where from and with what. */
export const consoleAuditRoutes = {
  listAudit: audit('GET', `${tenant}/audit`, 'Read the audit log of an organization', entries, {
    ...paged,
    query: auditQuery,
    description: "Requires an Admin. Includes the sign-ins of the organization's members, and those that failed.",
  }),
  exportAudit: audit('GET', `${tenant}/audit/export`, 'Export the audit log of an organization', lines, {
    query: auditExportQuery,
    refusals: ['invalid_request'],
    description: `${exported} Requires an Admin, or a token with the permission \`audit.read\`.`,
  }),
  listMyAudit: audit('GET', '/api/v2/me/audit', 'Read my security log', entries, {
    scopes: ['account:read'],
    ...paged,
    query: auditQuery,
    description: 'Actions of the caller, and failed attempts to sign in as the caller.',
  }),
  listPlatformAudit: audit(
    'GET',
    '/api/v2/audit',
    'Read the audit log of all organizations',
    entriesOf(platformAuditRecord),
    {
      ...readByOperator,
      ...paged,
      query: platformAuditQuery,
      description: 'Requires a platform operator.',
    },
  ),
  exportPlatformAudit: audit('GET', '/api/v2/audit/export', 'Export the audit log of all organizations', lines, {
    ...readByOperator,
    query: auditExportQuery,
    refusals: ['invalid_request'],
    description: `${exported} Requires a platform operator.`,
  }),
} as const satisfies Record<string, ApiRoute>
