import { type Environment, httpUrl, readConfig, wholeNumber } from '@gateway/service-kit/process/config'
import { z } from 'zod'

export interface BridgeConfig {
  /** Address of the sandbox product. */
  url: URL
  /** Secret of an API key. */
  key: string
  /** How long a call without a response is retried; by default as long as an execution may take. Milliseconds. */
  retryMs: number
}

const config = z.object({
  MCP_BRIDGE_URL: httpUrl()
    .refine((url) => /\/v1\/sandbox\/[^/]+\/mcp$/.test(new URL(url).pathname), {
      error: 'expected an address that ends with /v1/sandbox/<id>/mcp',
    })
    .meta({ description: 'URL of the sandbox product to call' }),
  MCP_BRIDGE_KEY: z
    .string()
    .startsWith('svc_', 'expected an API key, which starts with svc_')
    .meta({ description: 'API key of its project', secret: true }),
  MCP_BRIDGE_RETRY_SECONDS: wholeNumber({ min: 0, max: 86_400 })
    .default(1_200)
    .meta({ description: 'Time for which a call without a response is retried, in seconds' }),
})

/**
 * Reads the configuration. No argument names the key: process listings show arguments.
 * @throws ConfigurationError
 */
export function readBridgeConfig(env: Environment): BridgeConfig {
  const { MCP_BRIDGE_URL, MCP_BRIDGE_KEY, MCP_BRIDGE_RETRY_SECONDS } = readConfig(config, env)
  return { url: new URL(MCP_BRIDGE_URL), key: MCP_BRIDGE_KEY, retryMs: MCP_BRIDGE_RETRY_SECONDS * 1_000 }
}
