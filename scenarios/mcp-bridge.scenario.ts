import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { startFaultProxy, type FaultProxy } from '@gateway/testbed/fault-proxy'
import { processOf } from '@gateway/testbed/test-program'
import { expect } from 'vitest'
import { bridgeOf } from './src/mcp/clients/bridge.ts'
import { sdkOneOverBridge } from './src/mcp/clients/sdk-one.ts'
import { sdkTwoOverBridge } from './src/mcp/clients/sdk-two.ts'
import type { Stack } from './src/stack.ts'
import type { McpTenant } from './src/mcp/mcp-tenant.ts'
import { mcpTest } from './src/mcp/mcp-test.ts'

// The bridge between stdio clients and an unreliable network path to the gateway. The clients don't have the key.

const test = mcpTest.extend('proxy', { scope: 'file' }, async ({ stack }, { onCleanup }) => {
  const { hostname, port } = new URL(stack.gateways[0]!.url)
  const proxy = await startFaultProxy({ host: hostname, port: Number(port) })
  onCleanup(() => proxy.close())
  return proxy
})

const endpointOn = (proxy: FaultProxy, tenant: McpTenant, sandbox: string) => ({
  url: new URL(proxy.through(tenant.at(sandbox).href)),
  key: tenant.key.secret,
})

// spec: can/tool-calls
test.for([sdkTwoOverBridge({ pin: '2026-07-28' }), sdkOneOverBridge])(
  'a call through $name whose connection is cut is one execution, and the client sees only its result',
  async (client, { stack, tenant, proxy }) => {
    const sandbox = await tenant.chain()
    const points = [1, 300, 600, 900, 1_200, 1_500]
    for (const bytes of points) {
      const prompt = randomUUID()
      await stack.provider.control.setFaults([{ prompt, hold: true, times: 1 }])
      const seen: number[] = []
      const calling = client.call(
        endpointOn(proxy, tenant, sandbox),
        { prompt },
        { idempotencyKey: null, onProgress: (at) => seen.push(at) },
      )
      await stack.provider.control.waitForCalls(1, { prompt }) // the call is in progress
      void proxy.cutAfter(bytes, 'toClient')
      await stack.provider.control.release()
      expect(await calling).toMatchObject({ isError: false, structured: { text: expect.any(String) as string } })
      proxy.heal()
      expect(seen).toEqual(seen.toSorted((a, b) => a - b))
      expect(new Set(seen).size).toBe(seen.length)
      expect(await stack.provider.control.countCalls({ prompt })).toBe(2)
    }
    expect(await tenant.executions(sandbox)).toBe(points.length)
    expect(await stack.findings([tenant.project.id])).toEqual([])
  },
)

test('the bridge waits for a gateway that restarts', async ({ stack, tenant }) => {
  const sandbox = await tenant.chain()
  const prompt = randomUUID()
  await stack.provider.control.setFaults([{ prompt, hold: true, times: 1 }])
  const endpoint = { url: tenant.at(sandbox, 2), key: tenant.key.secret }
  const calling = sdkOneOverBridge.call(endpoint, { prompt }, { idempotencyKey: null })
  await stack.provider.control.waitForCalls(1, { prompt })
  await processOf(stack.gateways[2]).kill()
  await stack.provider.control.release()
  await stack.gateways[2]!.start()
  expect(await calling).toMatchObject({ isError: false })
  expect(await tenant.executions(sandbox)).toBe(1)
})

test('an execution ends and is charged even if its client cancels the call', async ({ stack, tenant }) => {
  const sandbox = await tenant.chain()
  const prompt = randomUUID()
  await stack.provider.control.setFaults([{ prompt, hold: true, times: 1 }])
  const client = new Client({ name: 'scenario', version: '1' })
  await client.connect(
    new StdioClientTransport({ ...bridgeOf({ url: tenant.at(sandbox), key: tenant.key.secret }), stderr: 'pipe' }),
  )
  const giving = new AbortController()
  const calling = client.callTool({ name: 'invoke_product', arguments: { prompt } }, { signal: giving.signal })
  await stack.provider.control.waitForCalls(1, { prompt })
  giving.abort()
  await expect(calling).rejects.toThrow()
  await stack.provider.control.release()
  expect(await client.listTools()).toMatchObject({ tools: [{ name: 'invoke_product' }] }) // still serving
  await client.close()
  await expect.poll(() => statusOf(stack, sandbox), { timeout: 30_000 }).toBe('Succeeded')
  expect(await tenant.executions(sandbox)).toBe(1)
})

test('the bridge reports all configuration errors in one message, without the key', async () => {
  const { command, args, env } = bridgeOf({ url: new URL('http://localhost:1/mcp'), key: 'not-a-key' })
  const ended = await promisify(execFile)(command, args, { env }).catch(
    (error: { code: number; stderr: string }) => error,
  )
  expect(ended).toMatchObject({ code: 2, stdout: '' })
  expect(ended.stderr).toMatch(/^MCP_BRIDGE_URL.*\nMCP_BRIDGE_KEY.*\nResolution: /)
  expect(ended.stderr).not.toContain('not-a-key')
})

async function statusOf({ fixture }: Stack, sandbox: string): Promise<string> {
  const { rows } = await fixture.run('SELECT status FROM money.executions WHERE sandbox = $1', [sandbox])
  return (rows as { status: string }[])[0]!.status
}
