import { z } from 'zod'
import type { ServiceName } from '@gateway/ledger-protocol/ledger-reads'
import { flag, sharedSecret, wholeNumber } from '@gateway/service-kit/process/config'
import { redisUrl } from '@gateway/service-kit/redis/open-redis'
import { archiveAfterDays } from './archive/config.ts'

const secretOf = (service: string) =>
  sharedSecret().meta({ description: `What the ${service} service signs its tokens with; known to both`, secret: true })

const previousSecretOf = (service: string) =>
  sharedSecret()
    .optional()
    .meta({
      description: `While the secret of the ${service} service is replaced: the one before, which is taken besides`,
      secret: true,
    })

const variables = z.object({
  DATABASE_URL: z.string().min(1).meta({ description: 'Postgres, as a login of the role svc_ledger', secret: true }),
  REDIS_URL: redisUrl().meta({
    description:
      'Redis with the queue of nodes, and the notifier that announces the progress of executions; one server, Sentinels or a Cluster',
    secret: true,
  }),
  SERVICE_SECRET_GATEWAY: secretOf('gateway'),
  SERVICE_SECRET_WORKER: secretOf('worker'),
  SERVICE_SECRET_CONSOLE: secretOf('console'),
  SERVICE_SECRET_GATEWAY_PREVIOUS: previousSecretOf('gateway'),
  SERVICE_SECRET_WORKER_PREVIOUS: previousSecretOf('worker'),
  SERVICE_SECRET_CONSOLE_PREVIOUS: previousSecretOf('console'),
  BATCHES_IN_FLIGHT: wholeNumber({ min: 1, max: 16 })
    .default(1)
    .meta({ description: 'Batches in flight at once; more only where Postgres has cores to spare' }),
  BATCH_ITEMS: wholeNumber({ min: 1, max: 2048 }).default(512).meta({ description: 'Items of one batch at most' }),
  WAITING_ADMISSIONS: wholeNumber({ min: 1, max: 1_000_000 })
    .default(10_000)
    .meta({ description: 'Admissions that may wait; one more is refused as overloaded' }),
  MAX_CONCURRENT_NODES: wholeNumber({ min: 1, max: 10_000 }).default(32).meta({
    description: 'Nodes of one project in the queue or under way at once; its other nodes wait their turn',
  }),
  OPEN_EXECUTIONS: wholeNumber({ min: 1, max: 1_000_000 })
    .default(10_000)
    .meta({ description: 'Executions of one project that have not ended; one more is refused as overloaded' }),
  CHAT_FIRST_CLAIM_SECONDS: wholeNumber({ min: 1, max: 900 }).default(60).meta({
    description:
      'How long a sandbox product that is called as a chat model waits for a worker; then its caller is refused with `no_worker`, uncharged',
  }),
  READ_CONNECTIONS: wholeNumber({ min: 1, max: 100 })
    .default(4)
    .meta({ description: 'Connections for questions, beside those of batches, heartbeats and maintenance' }),
  RELEASE_GRACE_MS: wholeNumber({ min: 1_000, max: 600_000 }).default(30_000).meta({
    description:
      'Milliseconds for which settlements must be possible before the overdue reservation of a living gateway is released',
  }),
  CHECK_EVERY_SECONDS: wholeNumber({ min: 1, max: 86_400 })
    .default(60)
    .meta({ description: 'How often the books are derived again from the journal' }),
  ARCHIVE_AFTER_DAYS: archiveAfterDays().optional().meta({
    description:
      'Where `ledger archive` runs by itself, the same as there: then an alert says which month is overdue. None: nothing is archived',
  }),
  WEBHOOK_KEY: sharedSecret().optional().meta({
    description: 'What the secrets of webhooks are made with; none: there are no webhooks',
    secret: true,
  }),
  WEBHOOK_KEY_PREVIOUS: sharedSecret().optional().meta({
    description: 'The key before WEBHOOK_KEY, as long as there are webhooks from its time',
    secret: true,
  }),
  WEBHOOK_PRIVATE_ADDRESSES: flag()
    .default(false)
    .meta({ description: 'Webhooks may have private addresses, and http; for development and tests' }),
  PREPARED_STATEMENTS: flag()
    .default(true)
    .meta({ description: 'Off for a PgBouncer that does not know prepared statements' }),
})

const SERVICES = ['GATEWAY', 'WORKER', 'CONSOLE'] as const

/** What the ledger reads from its environment. */
export const ledgerConfig = variables.superRefine((config, context) => {
  for (const service of SERVICES) {
    const [name, previous] = [`SERVICE_SECRET_${service}`, `SERVICE_SECRET_${service}_PREVIOUS`] as const
    if (config[previous] !== undefined && config[previous] === config[name])
      context.addIssue({
        code: 'custom',
        path: [previous],
        message: `it is the same as ${name}; it is the secret before that one, and is left out when none is replaced`,
      })
  }
})

export type LedgerConfig = z.output<typeof ledgerConfig>

/** The secrets that each service may sign its tokens with. */
export function serviceSecretsOf(config: LedgerConfig): Record<ServiceName, string[]> {
  const both = (...secrets: (string | undefined)[]) => secrets.filter((secret) => secret !== undefined)
  return {
    gateway: both(config.SERVICE_SECRET_GATEWAY, config.SERVICE_SECRET_GATEWAY_PREVIOUS),
    worker: both(config.SERVICE_SECRET_WORKER, config.SERVICE_SECRET_WORKER_PREVIOUS),
    console: both(config.SERVICE_SECRET_CONSOLE, config.SERVICE_SECRET_CONSOLE_PREVIOUS),
  }
}
