import { revenueQuery, revenueReport, walletRow, walletsQuery } from '../console/platform-money.ts'
import { providerQuery, providersReport } from '../console/provider-health.ts'
import type { ApiRoute } from './api-route.ts'
import { one, page, paged, route } from './console-rows.ts'

const catalogue = route('Platform', 'catalogue')
const money = route('Platform', 'money')

/** What platform operators see across all organizations. */
export const consolePlatformRoutes = {
  listProviders: catalogue('GET', '/api/v2/providers', 'Read what providers answered', one(providersReport), {
    query: providerQuery,
    refusals: ['invalid_request'],
    scopes: ['catalogue:read', 'operator'],
    description:
      'By a platform operator. Calls, failures, latency and fallbacks of each provider, as gateways and workers reported them, in slots of five minutes.',
  }),
  listWallets: money('GET', '/api/v2/wallets', 'List the wallets of all projects', page(walletRow), {
    ...paged,
    query: walletsQuery,
    scopes: ['money:read', 'operator'],
    description: 'By a platform operator. A cursor belongs to one sort order.',
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
        'By a platform operator. Charges of all projects, by the month of the admission. A cost that is not known is not counted as zero: the margin compares the calls whose cost is known.',
    },
  ),
} as const satisfies Record<string, ApiRoute>
