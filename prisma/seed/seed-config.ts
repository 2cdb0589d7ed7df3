import { httpUrl, sharedSecret } from '@gateway/service-kit/process/config'
import { z } from 'zod'

/** What the seed reads from its environment, where it runs as its own program. */
export const seedConfig = z.object({
  DATABASE_URL: z.string().min(1).meta({ description: 'Postgres connection URL of the database owner', secret: true }),
  LEDGER_URL: httpUrl().meta({ description: 'Base URL of the ledger' }),
  CONSOLE_URL: httpUrl().meta({ description: 'Base URL of the console' }),
  SERVICE_SECRET: sharedSecret().meta({
    description: 'Secret with which the console signs its tokens for the ledger',
    secret: true,
  }),
  SEEDED_FILE: z.string().min(1).meta({
    description: 'File for the secrets of seeded data, so that a second run creates no new ones',
  }),
})
