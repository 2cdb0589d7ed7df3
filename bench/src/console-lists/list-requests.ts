import type { QueryOf } from '@gateway/api/api-route'
import { walletSort } from '@gateway/api/console/platform-money'
import type { ConsoleOperation, ConsoleRoutes } from '@gateway/api/console-routes'

// What the console's page asks of each list and chart, with the queries that it sends (packages/console-page/page).
// `readingAll` there reads a whole list in pages of 500; here its first page is asked, and its last one if it has several.

export type ReadOperation = {
  [O in ConsoleOperation]: ConsoleRoutes[O]['method'] extends 'GET' ? O : never
}[ConsoleOperation]

export interface ListRequest<Query> {
  what: string
  query?: Query
  /** Which page of the list, from 1, which is the default. */
  page?: number
}

/** Why a route is not measured. */
type LeftOut = 'one record' | 'a file' | 'an export' | 'a stream' | 'sign-in'

export type ListRequests = {
  [O in ReadOperation]: LeftOut | readonly ListRequest<QueryOf<ConsoleRoutes[O]>>[]
}

/** What the paths and filters name. */
export interface Places {
  tenant: string
  team: string
  project: string
  projectName: string
  /** The one with the most calls. */
  key: string
  product: string
  /** One that owns keys and has entries in the audit. */
  user: string
  userEmail: string
  /** The one with the most executions, and with many revisions. */
  sandbox: string
  execution: string
  webhook: string
}

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const WHOLE = { limit: 500 }

export function listRequests(at: Places, now: Date): ListRequests {
  const ago = (ms: number) => new Date(now.getTime() - ms).toISOString()
  const month = { from: ago(30 * DAY_MS) }
  const { project, key, product, user, sandbox, execution } = at
  return {
    readSignInMethods: 'sign-in',
    oidcRedirect: 'sign-in',
    oidcCallback: 'sign-in',
    readSecondFactor: 'one record',
    readMe: [{ what: 'the user, with all roles' }],
    listTokens: [{ what: 'personal tokens', query: WHOLE }],
    listSessions: [{ what: 'sessions', query: WHOLE }],
    listAppointments: [{ what: 'appointments of owners', query: WHOLE }],

    listTenants: [
      { what: 'organizations', query: WHOLE },
      { what: 'organizations, last page', query: WHOLE, page: 4 },
    ],
    listMembers: [{ what: 'members', query: WHOLE }],
    listInvitations: [{ what: 'invitations', query: WHOLE }],
    listTeams: [{ what: 'teams', query: WHOLE }],
    listTeamMembers: [{ what: 'members of a team', query: WHOLE }],
    listBudgets: [{ what: 'budgets', query: WHOLE }],
    listProjects: [{ what: 'projects', query: WHOLE }],
    listGrants: [{ what: 'grants', query: WHOLE }],
    listAssignments: [{ what: 'assigned products', query: WHOLE }],
    listTenantTokens: [
      { what: 'tokens of the organization', query: WHOLE },
      { what: 'tokens of a member', query: { ...WHOLE, createdBy: user } },
    ],
    listProjectTokens: [{ what: 'tokens of the project', query: WHOLE }],
    readQuotas: 'one record',

    listAudit: [
      { what: 'audit', query: { limit: 50 } },
      { what: 'audit, page 20', query: { limit: 50 }, page: 20 },
      { what: 'audit of a user in a month', query: { limit: 50, user, ...month } },
      { what: 'audit of an action', query: { limit: 50, action: 'key.rotate' } },
      { what: 'audit of a key', query: { limit: 50, subject: key } },
      { what: 'audit, refused', query: { limit: 50, outcome: 'refused' } },
    ],
    listMyAudit: [{ what: 'security log of the user', query: { limit: 50 } }],
    listPlatformAudit: [
      { what: 'audit of all organizations', query: { limit: 50 } },
      { what: 'audit of all organizations, an action', query: { limit: 50, action: 'key.rotate' } },
      { what: 'audit of all organizations, a user', query: { limit: 50, user } },
    ],
    exportAudit: 'an export',
    exportPlatformAudit: 'an export',

    listUsers: [
      { what: 'a user by email', query: { email: at.userEmail } },
      { what: 'users', query: WHOLE },
    ],
    listOperators: [{ what: 'operators', query: WHOLE }],
    listProviders: (['hour', 'day', 'week'] as const).map((range) => ({
      what: `providers, ${range}`,
      query: { range },
    })),
    listWallets: [
      ...walletSort.options.flatMap((sort) =>
        (['asc', 'desc'] as const).map((order) => ({
          what: `wallets by ${sort}, ${order}`,
          query: { sort, order, limit: 50 },
        })),
      ),
      { what: 'wallets by spend, page 20', query: { sort: 'spend', order: 'desc', limit: 50 }, page: 20 },
      { what: 'wallets, search by name', query: { q: at.projectName, limit: 50 } },
      { what: 'the wallet of a project among all', query: { q: project, limit: 1 } },
    ],
    readRevenue: [5, 23].map((months) => ({
      what: `revenue of ${months + 1} months`,
      query: { from: monthsBefore(now, months), to: monthsBefore(now, 0) },
    })),

    listKeys: [
      { what: 'keys of the project', query: { ...WHOLE, project } },
      { what: 'keys of the project, last page', query: { ...WHOLE, project }, page: 4 },
      { what: 'keys of the organization', query: WHOLE },
      { what: 'keys, active', query: { ...WHOLE, state: 'Active' } },
      { what: 'keys, need reissue', query: { ...WHOLE, state: 'NeedsReissue' } },
      { what: 'active keys of a member', query: { ...WHOLE, state: 'Active', createdBy: user } },
    ],
    readKey: 'one record',

    readWallet: 'one record',
    readStatement: [
      { what: 'statement of this month', query: {} },
      { what: 'statement of the month before', query: { month: monthsBefore(now, 1) } },
      { what: 'statement of 7 days', query: { from: ago(6 * DAY_MS).slice(0, 10), to: ago(-DAY_MS).slice(0, 10) } },
    ],
    listFundings: [{ what: 'fundings', query: WHOLE }],
    listJournal: [
      { what: 'journal', query: { limit: 50 } },
      { what: 'journal, page 20', query: { limit: 50 }, page: 20 },
    ],
    readUsage: usageRequests(now, at),
    countRefusals: (['code', 'key'] as const).flatMap((by) => [
      { what: `errors of a day, by ${by}`, query: { by, step: 'none' } },
      { what: `errors of 31 days, by ${by}`, query: { by, step: 'none', from: ago(31 * DAY_MS), to: ago(0) } },
    ]),
    listLatestRefusals: [{ what: 'the last errors' }],
    listInvocations: [
      { what: 'calls', query: { limit: 50 } },
      { what: 'calls, page 20', query: { limit: 50 }, page: 20 },
      { what: 'calls, live', query: { limit: 5 } },
      { what: 'calls of a month', query: { limit: 50, ...month } },
      { what: 'calls of a key', query: { limit: 50, key } },
      { what: 'calls of a model', query: { limit: 50, model: product } },
      { what: 'calls of a key and a model', query: { limit: 50, key, model: product } },
      { what: 'calls, released', query: { limit: 50, state: 'Released' } },
      { what: 'calls, open', query: { limit: 50, state: 'Open' } },
      { what: 'calls of a model that has none', query: { limit: 50, model: 'acme/none' } },
      { what: 'calls of an execution', query: { limit: 50, execution } },
      { what: 'latency of the newest calls', query: { limit: 1, include: 'latency' } },
      { what: 'latency of the newest calls of a key', query: { limit: 1, include: 'latency', key } },
      ...(
        [
          ['', {}],
          [' of a key', { key }],
          [' of a model', { model: product }],
        ] as const
      ).map(([of, filters]) => ({
        what: `most expensive calls${of}`,
        query: { limit: 50, order: 'cost' as const, ...filters, ...month, to: ago(0) },
      })),
    ],
    readInvocation: 'one record',
    readContent: 'one record',

    readThresholds: 'one record',
    listNotices: [{ what: 'alerts', query: { limit: 100 } }],
    listWebhooks: [{ what: 'webhooks of the project', query: WHOLE }],
    readWebhook: 'one record',
    listDeliveries: [
      { what: 'deliveries to a webhook', query: { limit: 50 } },
      { what: 'deliveries to a webhook, page 20', query: { limit: 50 }, page: 20 },
      { what: 'deliveries to a webhook, dead', query: { limit: 50, state: 'Dead' } },
    ],
    listTenantWebhooks: [
      { what: 'webhooks of the organization', query: WHOLE },
      { what: 'webhooks of a member', query: { ...WHOLE, createdBy: user } },
    ],
    listProducts: [{ what: 'products', query: WHOLE }],

    listSandboxes: [{ what: 'flows', query: WHOLE }],
    listSandboxActivity: [{ what: 'activity of the flows', query: WHOLE }],
    readSandbox: 'one record',
    listRevisions: [
      { what: 'revisions', query: {} },
      { what: 'the newest revision', query: { limit: 1 } },
    ],
    readRevision: 'one record',
    listExecutions: [
      { what: 'executions of a flow', query: { limit: 50 } },
      { what: 'executions of a flow, failed', query: { limit: 50, state: 'Failed' } },
    ],
    listProjectExecutions: [
      { what: 'executions', query: { limit: 50 } },
      { what: 'executions, page 20', query: { limit: 50 }, page: 20 },
      { what: 'executions, running', query: { limit: 20, state: 'Running' } },
      { what: 'executions, failed', query: { limit: 50, state: 'Failed' } },
      { what: 'executions of a flow in a month', query: { limit: 50, sandbox, ...month } },
      { what: 'failed executions of a flow in a month', query: { limit: 50, sandbox, state: 'Failed', ...month } },
    ],
    readExecution: 'one record',
    followExecution: 'a stream',
    listAssets: [
      { what: 'assets', query: { limit: 24 } },
      { what: 'assets, page 20', query: { limit: 24 }, page: 20 },
      { what: 'assets for an input', query: { limit: 100 } },
      { what: 'assets of an execution', query: { limit: 24, execution } },
    ],
    readAsset: 'a file',
  }
}

type UsageQuery = NonNullable<QueryOf<ConsoleRoutes['readUsage']>>

const groupings = ['model', 'key', 'user', 'sandbox', 'tag'] as const
const ZONE = 'Europe/Berlin'

/** What the usage screen asks, then what the charts on other screens ask. */
function usageRequests(now: Date, { key, product }: Places): readonly ListRequest<UsageQuery>[] {
  const end = Math.ceil((now.getTime() + 1) / HOUR_MS) * HOUR_MS
  const iso = (ms: number) => new Date(ms).toISOString()
  const last = (days: number) => ({ from: iso(end - days * DAY_MS), to: iso(end) })
  const tomorrow = Math.ceil((now.getTime() + 1) / DAY_MS) * DAY_MS
  const utcMonth = { from: iso(tomorrow - 30 * DAY_MS), to: iso(tomorrow) }
  const onScreen = (by: (typeof groupings)[number], order: UsageQuery['order'], days: number) => {
    const [step, time] = days > 8 ? (['day', 'days'] as const) : (['hour', 'hours'] as const)
    const period = { step, zone: ZONE, ...last(days) }
    return {
      what: `usage of ${days} ${days === 1 ? 'day' : 'days'} by ${by}, most ${order} first, ${time} of Berlin`,
      query: { by, include: 'latency', top: 6, order, ...period } as const,
    }
  }
  const days = { step: 'day', zone: 'UTC', ...utcMonth } as const
  return [
    ...groupings.flatMap((by) => [
      ...[1, 7, 30, 90, 365].map((length) => onScreen(by, 'spend', length)),
      ...(['calls', 'tokens', 'errors'] as const).map((order) => onScreen(by, order, 30)),
    ]),
    { what: 'charges of a month by model', query: { by: 'model', top: 6, ...days } },
    { what: 'charges of a month by flow', query: { by: 'sandbox', top: 6, ...days } },
    { what: 'charges of a month of a key', query: { by: 'key', group: key, ...days } },
    { what: 'charges of a month of a model', query: { by: 'model', group: product, ...days } },
    { what: 'figures of a month of a model', query: { by: 'model', group: product, include: 'latency', ...utcMonth } },
  ]
}

/** Such as 2026-11, in UTC. */
function monthsBefore(now: Date, months: number): string {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months)).toISOString().slice(0, 7)
}
