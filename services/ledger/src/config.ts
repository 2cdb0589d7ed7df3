import { z } from 'zod'
import type { ServiceName } from '@gateway/ledger-protocol/ledger-reads'
import {
  flag,
  preparedStatements,
  publicUrl,
  quotasVariable,
  sharedSecret,
  wholeNumber,
} from '@gateway/service-kit/process/config'
import { servicePublicKeys } from '@gateway/service-kit/process/service-keys'
import { redisUrl } from '@gateway/service-kit/redis/open-redis'
import { archiveAfterDays } from './archive/config.ts'

const publicKeys = (service: string) =>
  servicePublicKeys().meta({
    description: `Public key of the ${service} service as PEM, or two, one after the other, during a rotation`,
    secret: true, // so that a private key in the wrong place is not printed
  })

/** Environment variables of the ledger. */
export const ledgerConfig = z.object({
  DATABASE_URL: z
    .string()
    .min(1)
    .meta({ description: 'Postgres connection URL, with a login of the role svc_ledger', secret: true }),
  REDIS_URL: redisUrl().meta({
    description:
      'Redis with the node queue and the progress notifications of executions; one server, Sentinels or a Cluster',
    secret: true,
  }),
  SERVICE_PUBLIC_KEYS_GATEWAY: publicKeys('gateway'),
  SERVICE_PUBLIC_KEYS_WORKER: publicKeys('worker'),
  SERVICE_PUBLIC_KEYS_CONSOLE: publicKeys('console'),
  BATCHES_IN_FLIGHT: wholeNumber({ min: 1, max: 16 })
    .default(1)
    .meta({ description: 'Maximum number of concurrent batches. Raise only if Postgres has spare cores' }),
  BATCH_ITEMS: wholeNumber({ min: 1, max: 2048 })
    .default(512)
    .meta({ description: 'Maximum number of items per batch' }),
  WAITING_ADMISSIONS: wholeNumber({ min: 1, max: 1_000_000 })
    .default(10_000)
    .meta({ description: 'Maximum number of waiting admissions. Further admissions are refused with `overloaded`' }),
  MAX_CONCURRENT_NODES: wholeNumber({ min: 1, max: 10_000 }).default(32).meta({
    description: 'Maximum number of queued or running nodes per project. Further nodes wait',
  }),
  OPEN_EXECUTIONS: wholeNumber({ min: 1, max: 1_000_000 }).default(10_000).meta({
    description: 'Maximum number of open executions per project. Further executions are refused with `overloaded`',
  }),
  CHAT_FIRST_CLAIM_SECONDS: wholeNumber({ min: 1, max: 900 }).default(60).meta({
    description:
      'Time in seconds that a sandbox product called as a chat model waits for a worker. Then the call is refused with `no_worker` and not charged',
  }),
  READ_CONNECTIONS: wholeNumber({ min: 1, max: 100 }).default(4).meta({
    description: 'Postgres connections for reads, in addition to those for batches, heartbeats and maintenance',
  }),
  RELEASE_GRACE_MS: wholeNumber({ min: 1_000, max: 600_000 }).default(30_000).meta({
    description:
      'Time in milliseconds that settlements must have been possible before an overdue reservation of a running gateway is released',
  }),
  CHECK_EVERY_SECONDS: wholeNumber({ min: 1, max: 86_400 })
    .default(60)
    .meta({ description: 'Interval in seconds at which the books are recomputed from the journal' }),
  ARCHIVE_AFTER_DAYS: archiveAfterDays().optional().meta({
    description:
      'Set to the value of a scheduled `ledger archive` job to be alerted when a month is overdue. Without it, nothing is archived',
  }),
  QUOTAS: quotasVariable(),
  WEBHOOK_KEY: sharedSecret().optional().meta({
    description: 'Key from which webhook secrets are derived. Without it, webhooks are disabled',
    secret: true,
  }),
  WEBHOOK_KEY_PREVIOUS: sharedSecret().optional().meta({
    description: 'The previous WEBHOOK_KEY, as long as webhooks created with it exist',
    secret: true,
  }),
  WEBHOOK_SECRET_GRACE_SECONDS: wholeNumber({ min: 0, max: 86_400 }).default(86_400).meta({
    description:
      'Time in seconds for which the earlier secrets of a webhook sign as well after a rotation. A rotation may ask for less',
  }),
  WEBHOOK_PRIVATE_ADDRESSES: flag()
    .default(false)
    .meta({ description: 'Allow webhooks at private addresses and over http. For development and tests only' }),
  PUBLIC_URL: publicUrl().meta({
    description: 'Public base URL of the service, as for the console: alerts in Slack link to it',
  }),
  PREPARED_STATEMENTS: preparedStatements(),
})

export type LedgerConfig = z.output<typeof ledgerConfig>

/** Returns the keys with which the ledger verifies the requests of each service, as PEM. */
export function publicKeysOf(config: LedgerConfig): Record<ServiceName, string> {
  return {
    gateway: config.SERVICE_PUBLIC_KEYS_GATEWAY,
    worker: config.SERVICE_PUBLIC_KEYS_WORKER,
    console: config.SERVICE_PUBLIC_KEYS_CONSOLE,
  }
}
