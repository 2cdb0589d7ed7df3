import { assetStoreConfig } from '@gateway/assets/asset-store-config'
import { readProviders, type ProvidersConfig } from '@gateway/providers/provider-config'
import { chatLimits } from '@gateway/api/limits'
import { HEARTBEAT_LIMITS } from '@gateway/ledger-client/instance'
import { ConfigurationError, type Environment, flag, httpUrl, wholeNumber } from '@gateway/service-kit/process/config'
import { servicePrivateKey } from '@gateway/service-kit/process/service-keys'
import { redisUrl } from '@gateway/service-kit/redis/open-redis'
import { countingConfig } from '@gateway/tokens/counting-thread'
import { z } from 'zod'

/** Environment variables of the worker. It has no database credentials. */
export const workerConfig = z.object({
  LEDGER_URL: httpUrl().meta({ description: 'Base address of the ledger' }),
  SERVICE_PRIVATE_KEY: servicePrivateKey().meta({
    description: 'Ed25519 key with which the worker signs its requests to the ledger, as PEM',
    secret: true,
  }),
  REDIS_URL: redisUrl().meta({
    description: 'Redis with the node queue. Must not evict keys; one server, Sentinels or a Cluster',
    secret: true,
  }),
  PROVIDERS: z.string().default('{}').meta({
    description: 'Model providers by name, as JSON. apiKeyEnv reads a key from another variable',
    secret: true,
  }),
  CONCURRENCY: wholeNumber({ min: 1, max: 1_000 })
    .default(32)
    .meta({ description: 'Maximum number of nodes that this process runs concurrently' }),
  HEARTBEAT_MS: wholeNumber(HEARTBEAT_LIMITS).default(1_000).meta({
    description:
      'Heartbeat interval in milliseconds. After three missed heartbeats, another worker takes over the nodes of this one',
  }),
  NODE_SLICE_MS: wholeNumber({ min: 0, max: 60_000 }).default(0).meta({
    description:
      'Time in milliseconds that a job may continue with free nodes of its execution. 0: each node is a job. A paid node is always a job',
  }),
  // One project may use half of it, so the minimum is twice the largest request.
  MAX_CONCURRENT_IMAGE_BYTES: wholeNumber({ min: 2 * chatLimits.bodyBytes, max: 100_000_000_000 })
    .default(64 * 1024 * 1024)
    .meta({
      description:
        'Maximum image bytes of all running chat nodes. Further nodes wait. Each byte takes up to five bytes of memory',
    }),
  TRACE_CONTENT: flag().default(false).meta({ description: 'Record prompts and responses in traces' }),
  ...countingConfig,
  ...assetStoreConfig,
})

export type WorkerConfig = z.output<typeof workerConfig>

/**
 * Reads `PROVIDERS` and the API keys it refers to.
 * @throws ConfigurationError
 */
export function providersOf({ PROVIDERS }: WorkerConfig, env: Environment): ProvidersConfig {
  try {
    return readProviders(PROVIDERS, env)
  } catch (error) {
    throw new ConfigurationError([(error as Error).message])
  }
}
