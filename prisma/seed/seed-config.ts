import { httpUrl } from '@gateway/service-kit/process/config'
import { servicePrivateKey } from '@gateway/service-kit/process/service-keys'
import { z } from 'zod'

/** What the seed reads from its environment, where it runs as its own program. */
export const seedConfig = z.object({
  DATABASE_URL: z.string().min(1).meta({ description: 'Postgres connection URL of the database owner', secret: true }),
  LEDGER_URL: httpUrl().meta({ description: 'Base URL of the ledger' }),
  CONSOLE_URL: httpUrl().meta({ description: 'Base URL of the console' }),
  SERVICE_PRIVATE_KEY: servicePrivateKey().meta({
    description: 'Ed25519 key with which the console signs its requests to the ledger, as PEM',
    secret: true,
  }),
  SEEDED_FILE: z.string().min(1).meta({
    description: 'File for the secrets of seeded data, so that a second run creates no new ones',
  }),
})
