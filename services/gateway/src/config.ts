import { assetReadsConfig, assetStoreConfig } from '@gateway/assets/asset-store-config'
import { readProviders, type ProvidersConfig } from '@gateway/providers/provider-config'
import { chatLimits } from '@gateway/api/limits'
import { HEARTBEAT_LIMITS } from '@gateway/ledger-client/instance'
import {
  commaSeparated,
  ConfigurationError,
  type Environment,
  flag,
  httpUrl,
  json,
  wholeNumber,
} from '@gateway/service-kit/process/config'
import { trustedProxies } from '@gateway/service-kit/http/connections'
import { servicePrivateKey } from '@gateway/service-kit/process/service-keys'
import { redisUrl } from '@gateway/service-kit/redis/open-redis'
import { countingConfig } from '@gateway/tokens/counting-thread'
import { ratesConfig } from './rates/rates.ts'
import { z } from 'zod'

/** Environment variables of the gateway. It has no database credentials. */
export const gatewayConfig = z.object({
  LEDGER_URL: httpUrl().meta({ description: 'Base address of the ledger' }),
  SERVICE_PRIVATE_KEY: servicePrivateKey().meta({
    description: 'Ed25519 key with which the gateway signs its requests to the ledger, as PEM',
    secret: true,
  }),
  REDIS_URL: redisUrl().meta({
    description:
      'Redis, used only to count rate limits and to wake up callers that wait for a running call; one server, Sentinels or a Cluster',
    secret: true,
  }),
  CONSOLE_URL: httpUrl()
    .optional()
    .meta({ description: 'Base URL of the console service. Without it, /api/v2 and /console are not served' }),
  MAX_CONCURRENT_CONSOLE_REQUESTS: wholeNumber({ min: 2, max: 100_000 }).default(1_024).meta({
    description:
      'Maximum number of concurrent requests to the console of signed-in users and tokens, and as many again of other callers. Further requests are refused with `overloaded`. Revocations have a separate limit',
  }),
  MAX_CONCURRENT_CONSOLE_REQUESTS_PER_USER: wholeNumber({ min: 1, max: 100_000 })
    .default(64)
    .meta({ description: 'Maximum number of concurrent requests to the console per user or token' }),
  PROVIDERS: z.string().default('{}').meta({
    description: 'Model providers by name, as JSON. apiKeyEnv reads a key from another variable',
    secret: true,
  }),
  ...assetStoreConfig,
  ...assetReadsConfig,
  MAX_CONCURRENT_CALLS: wholeNumber({ min: 1, max: 1_000_000 }).default(12_800).meta({
    description: 'Maximum number of concurrent requests with a key. Further requests are refused with `overloaded`',
  }),
  MAX_CONCURRENT_ADMISSIONS: wholeNumber({ min: 1, max: 1_000_000 }).default(256).meta({
    description: 'Maximum number of chat calls waiting for the ledger. Further calls are refused with `overloaded`',
  }),
  MAX_CONCURRENT_CALLS_PER_PROJECT: wholeNumber({ min: 1, max: 1_000_000 }).optional().meta({
    description: 'Maximum number of concurrent calls per project. Without it, as many as leave room for other projects',
  }),
  MAX_FOLLOWERS_PER_KEY: wholeNumber({ min: 1, max: 1_000_000 }).default(16).meta({
    description:
      'Maximum number of concurrent requests per key that follow the progress of an execution. Further ones are refused with `overloaded`',
  }),
  MAX_FOLLOWERS_PER_KEY_BY_PROJECT: json(z.record(z.string(), z.int().min(1).max(1_000_000)))
    .default({})
    .meta({
      description:
        'Another maximum for the keys of single projects, as JSON, for example {"prj_…":64}. Use it instead of raising the limit for everyone',
    }),
  ...countingConfig,
  // A project can take half of it, so the minimum is twice the largest request.
  MAX_CONCURRENT_IMAGE_BYTES: wholeNumber({ min: 2 * chatLimits.bodyBytes, max: 100_000_000_000 })
    .default(64 * 1024 * 1024)
    .meta({
      description:
        'Maximum image and file bytes, as sent, of all running chat calls; vectors of embedding calls have as much (limits.md, section 3). Further calls wait. Each byte takes up to five bytes of memory',
    }),
  HEARTBEAT_MS: wholeNumber(HEARTBEAT_LIMITS).default(5_000).meta({
    description:
      'Heartbeat interval in milliseconds. After three missed heartbeats, the ledger releases the reservations of this gateway',
  }),
  TRUSTED_PROXIES: trustedProxies(),
  MAX_CONNECTIONS: wholeNumber({ min: 16, max: 1_000_000 }).default(16_384).meta({
    description:
      'Maximum number of open connections. At most half of them may be unauthenticated; the oldest unauthenticated one is closed for a new one',
  }),
  MCP_HOSTS: hostNames().meta({
    description: 'Comma-separated host names of web pages that may call MCP, in addition to pages of this machine',
  }),
  TRACE_CONTENT: flag().default(false).meta({ description: 'Record prompts and responses in traces' }),
  RATES: json(ratesConfig).default({}).meta({
    description:
      'Rate limits per key and project, as JSON, for example {"key":{"requests":10,"seconds":1},"keys":{"key_…":{"requests":100,"seconds":60}}}. The ID of a first key covers its replacements, and null exempts it; "project" and "projects" limit projects the same way. All gateways count together, in Redis',
  }),
  RATE_SHARES: wholeNumber({ min: 1, max: 10_000 }).default(1).meta({
    description:
      'Number of gateways among which rate limits are divided without Redis, until Redis has told how many there are. Set it to the maximum number of replicas',
  }),
})

export type GatewayConfig = z.output<typeof gatewayConfig>

const HOST_NAME = /^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:.]+\])$/

/** Comma-separated host names as a browser writes them: lower case, without scheme or port. */
export function hostNames() {
  return commaSeparated().refine((names) => names.every((name) => HOST_NAME.test(name)), {
    error: 'expected names of hosts separated by commas, without scheme and port, such as app.example.com',
  })
}

/**
 * Reads `PROVIDERS` and the API keys that it references.
 * @throws ConfigurationError
 */
export function providersOf({ PROVIDERS }: GatewayConfig, env: Environment): ProvidersConfig {
  try {
    return readProviders(PROVIDERS, env)
  } catch (error) {
    throw new ConfigurationError([(error as Error).message])
  }
}
