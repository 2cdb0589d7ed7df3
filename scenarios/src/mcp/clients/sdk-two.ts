import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { bridgeOf } from './bridge.ts'
import type { Block, CallOptions, McpClient, Endpoint, ListedTool } from './mcp-client.ts'

type Era = 'legacy' | { pin: string }

/** Version 2 of the official SDK, over HTTP, in one of its protocol eras. */
export function sdkTwo(era: Era): McpClient {
  return client(`@modelcontextprotocol/client 2, ${nameOf(era)}`, era, ({ url, key }) => {
    const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` }
    return new StreamableHTTPClientTransport(url, { requestInit: { headers } })
  })
}

/** The same through the bridge, over stdio. */
export function sdkTwoOverBridge(era: Era): McpClient {
  return client(`@modelcontextprotocol/client 2, ${nameOf(era)}, over the bridge`, era, (endpoint) => {
    return new StdioClientTransport({ ...bridgeOf(endpoint), stderr: 'pipe' })
  })
}

const nameOf = (era: Era) => (era === 'legacy' ? '2025 era' : era.pin)

function client(name: string, era: Era, transportTo: (endpoint: Endpoint) => Transport): McpClient {
  async function during<T>(endpoint: Endpoint, work: (client: Client) => Promise<T>): Promise<T> {
    const one = new Client({ name: 'scenario', version: '1' }, { versionNegotiation: { mode: era } })
    await one.connect(transportTo(endpoint))
    try {
      return await work(one)
    } finally {
      await one.close()
    }
  }
  return {
    name,
    list: (endpoint) => during(endpoint, async (one) => (await one.listTools()).tools as ListedTool[]),
    call: (endpoint, input, { idempotencyKey, onProgress }: CallOptions) =>
      during(endpoint, async (one) => {
        await one.listTools() // loads the schema against which the SDK validates results
        const { isError, content, structuredContent } = await one.callTool(
          { name: 'invoke_product', arguments: input },
          {
            ...(idempotencyKey !== null && { headers: { 'idempotency-key': idempotencyKey } }),
            ...(onProgress && { onprogress: ({ progress }) => onProgress(progress) }),
          },
        )
        return {
          isError: isError === true,
          content: content as Block[],
          structured: structuredContent as Record<string, unknown> | undefined,
        }
      }),
  }
}
