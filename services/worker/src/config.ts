import { assetStoreConfig } from '@gateway/assets/asset-store-config'
import { readProviders, type ProvidersConfig } from '@gateway/providers/provider-config'
import { chatLimits } from '@gateway/api/limits'
import { HEARTBEAT_LIMITS } from '@gateway/ledger-client/instance'
import {
  ConfigurationError,
  type Environment,
  flag,
  httpUrl,
  sharedSecret,
  wholeNumber,
} from '@gateway/service-kit/process/config'
import { redisUrl } from '@gateway/service-kit/redis/open-redis'
import { countingConfig } from '@gateway/tokens/counting-thread'
import { z } from 'zod'

/** What the worker reads from its environment. It holds no credentials of the database. */
export const workerConfig = z.object({
  LEDGER_URL: httpUrl().meta({ description: 'Base address of the ledger' }),
  SERVICE_SECRET: sharedSecret().meta({
    description: 'What the worker signs its tokens for the ledger with',
    secret: true,
  }),
  REDIS_URL: redisUrl().meta({
    description: 'Redis with the queue of nodes; must never evict; one server, Sentinels or a Cluster',
    secret: true,
  }),
  PROVIDERS: z.string().default('{}').meta({
    description: 'Who serves the models, by name, as JSON; keys by apiKeyEnv from other variables',
    secret: true,
  }),
  CONCURRENCY: wholeNumber({ min: 1, max: 1_000 })
    .default(32)
    .meta({ description: 'Nodes that this process runs at once' }),
  HEARTBEAT_MS: wholeNumber(HEARTBEAT_LIMITS).default(1_000).meta({
    description:
      'Milliseconds between two heartbeats at the ledger. After three missed ones its nodes are given to another worker',
  }),
  NODE_SLICE_MS: wholeNumber({ min: 0, max: 60_000 }).default(200).meta({
    description:
      'Milliseconds for which a job goes on with other nodes of its execution though another may wait for its place; 0: each node goes through the queue',
  }),
  // The least is such that half of it, which one project may have, has room for the largest request.
  MAX_CONCURRENT_IMAGE_BYTES: wholeNumber({ min: 2 * chatLimits.bodyBytes, max: 100_000_000_000 })
    .default(64 * 1024 * 1024)
    .meta({
      description:
        'Bytes of images of all chat nodes under way; one more node waits for them. A byte takes up to five of memory',
    }),
  TRACE_CONTENT: flag()
    .default(false)
    .meta({ description: 'Puts prompts and answers into traces, for whoever may read them there' }),
  ...countingConfig,
  ...assetStoreConfig,
})

export type WorkerConfig = z.output<typeof workerConfig>

/**
 * Reads `PROVIDERS` and the keys that it names.
 * @throws ConfigurationError
 */
export function providersOf({ PROVIDERS }: WorkerConfig, env: Environment): ProvidersConfig {
  try {
    return readProviders(PROVIDERS, env)
  } catch (error) {
    throw new ConfigurationError([(error as Error).message])
  }
}
