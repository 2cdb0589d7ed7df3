import { revenueQuery, revenueReport, walletRow, walletsQuery } from '../console/platform-money.ts'
import { newProviderTest, providerQuery, providersReport, providerTest } from '../console/provider-health.ts'
import type { ApiRoute } from './api-route.ts'
import { byOperator, made, one, page, paged, route, sent } from './console-rows.ts'

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
  testProvider: catalogue(
    'POST',
    '/api/v2/providers/tests',
    'Test a provider with a minimal call',
    made(providerTest),
    {
      ...sent(newProviderTest, 'not_found', 'rate_limited'),
      ...byOperator('catalogue'),
      description:
        'By a platform operator. A gateway or worker that has the provider makes the call within seconds; `GET /api/v2/providers` has its result. It is charged to no wallet. At most 10 a minute.',
    },
  ),
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
