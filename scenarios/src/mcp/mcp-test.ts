import { stackTest } from '../stack-test.ts'
import { openMcpTenant } from './mcp-tenant.ts'

/** `test` with the whole service, including three gateways, and a project with flows shared by the tests of a file. */
export const mcpTest = stackTest.extend('tenant', { scope: 'file' }, ({ stack }) => openMcpTenant(stack))
