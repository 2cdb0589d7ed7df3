import { httpUrl, sharedSecret } from '@gateway/service-kit/process/config'
import { z } from 'zod'

/** What the seed reads from its environment, where it runs as a program of its own. */
export const seedConfig = z.object({
  DATABASE_URL: z.string().min(1).meta({ description: 'Postgres, as its owner', secret: true }),
  LEDGER_URL: httpUrl().meta({ description: 'Address of the ledger, through which money comes in' }),
  CONSOLE_URL: httpUrl().meta({ description: 'Address of the console, which sets the password' }),
  SERVICE_SECRET: sharedSecret().meta({
    description: 'What the console signs its tokens for the ledger with',
    secret: true,
  }),
  SEEDED_FILE: z.string().min(1).meta({
    description: 'Where the secrets of what was seeded are kept, so that a second run makes no new ones',
  }),
})
