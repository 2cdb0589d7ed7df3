import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { bridgeOf } from './bridge.ts'
import type { Block, McpClient, Endpoint, ListedTool } from './mcp-client.ts'

/** Version 1 of the official SDK, over HTTP. It has no per-call headers, so each call uses a new connection. */
export const sdkOne: McpClient = client('@modelcontextprotocol/sdk 1', ({ url, key }, idempotencyKey) => {
  const headers: Record<string, string> = {
    ...(key !== null && { authorization: `Bearer ${key}` }),
    ...(idempotencyKey !== null && { 'idempotency-key': idempotencyKey }),
  }
  return new StreamableHTTPClientTransport(url, { requestInit: { headers } })
})

/** The same through the bridge, over stdio. */
export const sdkOneOverBridge: McpClient = client(
  '@modelcontextprotocol/sdk 1, over the bridge',
  (endpoint) => new StdioClientTransport({ ...bridgeOf(endpoint), stderr: 'pipe' }),
)

function client(name: string, transportTo: (endpoint: Endpoint, idempotencyKey: string | null) => unknown): McpClient {
  async function during<T>(
    endpoint: Endpoint,
    idempotencyKey: string | null,
    work: (client: Client) => Promise<T>,
  ): Promise<T> {
    const one = new Client({ name: 'scenario', version: '1' })
    await one.connect(transportTo(endpoint, idempotencyKey) as Transport)
    try {
      return await work(one)
    } finally {
      await one.close()
    }
  }
  return {
    name,
    list: (endpoint) => during(endpoint, null, async (one) => (await one.listTools()).tools as ListedTool[]),
    call: (endpoint, input, { idempotencyKey, onProgress }) =>
      during(endpoint, idempotencyKey, async (one) => {
        await one.listTools() // loads the schema against which the SDK validates results
        const { isError, content, structuredContent } = await one.callTool(
          { name: 'invoke_product', arguments: input },
          undefined,
          onProgress && { onprogress: ({ progress }) => onProgress(progress) },
        )
        return {
          isError: isError === true,
          content: content as Block[],
          structured: structuredContent as Record<string, unknown> | undefined,
        }
      }),
  }
}
