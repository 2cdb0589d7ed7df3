import { assetStoreConfig } from '@gateway/assets/asset-store-config'
import { readProviders, type ProvidersConfig } from '@gateway/providers/provider-config'
import { chatLimits } from '@gateway/api/limits'
import { HEARTBEAT_LIMITS } from '@gateway/ledger-client/instance'
import {
  ConfigurationError,
  type Environment,
  flag,
  httpUrl,
  json,
  sharedSecret,
  wholeNumber,
} from '@gateway/service-kit/process/config'
import { redisUrl } from '@gateway/service-kit/redis/open-redis'
import { countingConfig } from '@gateway/tokens/counting-thread'
import { ratesConfig } from './admission/limits.ts'
import { z } from 'zod'

/** What the gateway reads from its environment. It holds no credentials of the database. */
export const gatewayConfig = z.object({
  LEDGER_URL: httpUrl().meta({ description: 'Base address of the ledger' }),
  SERVICE_SECRET: sharedSecret().meta({
    description: 'What the gateway signs its tokens for the ledger with',
    secret: true,
  }),
  REDIS_URL: redisUrl().meta({
    description: 'Redis; only wakes up who waits for a running call; one server, Sentinels or a Cluster',
    secret: true,
  }),
  CONSOLE_URL: httpUrl()
    .optional()
    .meta({ description: 'Base address of the console service; without one /api/v2 and /console are not served' }),
  PROVIDERS: z.string().default('{}').meta({
    description: 'Who serves the models, by name, as JSON; keys by apiKeyEnv from other variables',
    secret: true,
  }),
  ...assetStoreConfig,
  MAX_CONCURRENT_CALLS: wholeNumber({ min: 1, max: 1_000_000 })
    .default(4_096)
    .meta({ description: 'Requests with a key under way at most; one more is refused as overloaded' }),
  MAX_CONCURRENT_ADMISSIONS: wholeNumber({ min: 1, max: 1_000_000 })
    .default(256)
    .meta({ description: 'Chat calls that may wait for the ledger at once; one more is refused as overloaded' }),
  MAX_CONCURRENT_CALLS_PER_PROJECT: wholeNumber({ min: 1, max: 1_000_000 })
    .optional()
    .meta({ description: 'Of one project at most; without it as many as leave room for others' }),
  ...countingConfig,
  // The least is such that half of it, which one project may have, has room for the largest request.
  MAX_CONCURRENT_IMAGE_BYTES: wholeNumber({ min: 2 * chatLimits.bodyBytes, max: 100_000_000_000 })
    .default(64 * 1024 * 1024)
    .meta({
      description:
        'Bytes of images, as they are sent, of all chat calls under way; one more call waits for them. A byte takes up to five of memory',
    }),
  HEARTBEAT_MS: wholeNumber(HEARTBEAT_LIMITS).default(5_000).meta({
    description:
      'Milliseconds between two heartbeats at the ledger. After three missed ones the reservations of its calls are released',
  }),
  MCP_HOSTS: hostNames().meta({
    description:
      'Host names, separated by commas, whose pages in a browser may call MCP, besides those of this machine',
  }),
  TRACE_CONTENT: flag()
    .default(false)
    .meta({ description: 'Puts prompts and answers into traces, for whoever may read them there' }),
  RATES: json(ratesConfig).default({}).meta({
    description:
      'How often a key and a project may call, as JSON such as {"key":{"requests":10,"seconds":1},"projects":{"prj_…":{"requests":100,"seconds":60}}}; counted by each process alone',
  }),
})

export type GatewayConfig = z.output<typeof gatewayConfig>

const HOST_NAME = /^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:.]+\])$/

/** Names of hosts as a browser writes them, separated by commas: lower case, no scheme and no port. */
export function hostNames() {
  return z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== ''),
    )
    .refine((names) => names.every((name) => HOST_NAME.test(name)), {
      error: 'expected names of hosts separated by commas, without scheme and port, such as app.example.com',
    })
}

/**
 * Reads `PROVIDERS` and the keys that it names.
 * @throws ConfigurationError
 */
export function providersOf({ PROVIDERS }: GatewayConfig, env: Environment): ProvidersConfig {
  try {
    return readProviders(PROVIDERS, env)
  } catch (error) {
    throw new ConfigurationError([(error as Error).message])
  }
}
