import { liveTest } from '@gateway/testbed/live-test'
import { openStack } from '../stack.ts'
import { openMcpTenant } from './mcp-tenant.ts'

/** `test` with the whole service, three gateways, two ledgers and two workers, and a project with flows, shared by a file. */
export const mcpTest = liveTest
  .extend('gatewayEnvironment', { scope: 'file' }, (): Record<string, string> => ({}))
  .extend('stack', { scope: 'file' }, async ({ database, redis, gatewayEnvironment }, { onCleanup }) => {
    const stack = await openStack({
      adminUrl: database.adminUrl,
      ledgerUrl: database.ledgerUrl,
      redisUrl: redis.url,
      ledgers: 2,
      gateways: 3,
      workers: 2,
      environment: { gateway: () => gatewayEnvironment },
    })
    onCleanup(stack.close)
    return stack
  })
  .extend('tenant', { scope: 'file' }, ({ stack }) => openMcpTenant(stack))
