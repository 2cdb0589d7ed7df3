import { parseArgs } from 'node:util'
import {
  ConfigurationError,
  type Environment,
  httpUrl,
  readConfig,
  wholeNumber,
} from '@gateway/service-kit/process/config'
import { z } from 'zod'

export interface BridgeConfig {
  /** Address of the sandbox product. */
  url: URL
  /** Secret of an API key. */
  key: string
  /** How long a call without a response is retried; by default as long as an execution may take. Milliseconds. */
  retryMs: number
}

export const USAGE = `Usage: gateway-mcp-bridge [--url <address>] [--key-file <file>] [--retry-seconds <n>]

  MCP_BRIDGE_URL or --url                       the sandbox product, such as https://gateway.example/v1/sandbox/sbx-…/mcp
  MCP_BRIDGE_KEY, MCP_BRIDGE_KEY_FILE or --key-file   an API key of its project, or the file that holds one
  MCP_BRIDGE_RETRY_SECONDS or --retry-seconds   how long a call without a response is retried, with the same idempotency key (1200)`

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
 * Reads the configuration; arguments take precedence over the environment. There is no argument for the key: everyone
 * who lists the processes of the machine would see it.
 * @throws ConfigurationError
 */
export function readBridgeConfig(args: string[], env: Environment): BridgeConfig {
  const given = readArguments(args)
  const { MCP_BRIDGE_URL, MCP_BRIDGE_KEY, MCP_BRIDGE_RETRY_SECONDS } = readConfig(config, {
    ...env,
    ...(given.url !== undefined && { MCP_BRIDGE_URL: given.url }),
    ...(given['key-file'] !== undefined && { MCP_BRIDGE_KEY: undefined, MCP_BRIDGE_KEY_FILE: given['key-file'] }),
    ...(given['retry-seconds'] !== undefined && { MCP_BRIDGE_RETRY_SECONDS: given['retry-seconds'] }),
  })
  return { url: new URL(MCP_BRIDGE_URL), key: MCP_BRIDGE_KEY, retryMs: MCP_BRIDGE_RETRY_SECONDS * 1_000 }
}

function readArguments(args: string[]) {
  try {
    const string = { type: 'string' } as const
    return parseArgs({ args, options: { url: string, 'key-file': string, 'retry-seconds': string } }).values
  } catch (error) {
    throw new ConfigurationError([(error as Error).message])
  }
}
