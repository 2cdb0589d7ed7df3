import { z } from 'zod'
import { flag, httpUrl, sharedSecret, wholeNumber } from '@gateway/process/config-fields'

/** What the console reads from its environment. */
export const consoleConfig = z.object({
  DATABASE_URL: z.string().min(1).meta({ description: 'Postgres, as a login of the role svc_console', secret: true }),
  LEDGER_URL: httpUrl().meta({ description: 'Address of the ledger' }),
  SERVICE_SECRET: sharedSecret().meta({
    description: 'What the console signs its tokens for the ledger with',
    secret: true,
  }),
  DATABASE_CONNECTIONS: wholeNumber({ min: 1, max: 100 }).default(5).meta({ description: 'Connections to Postgres' }),
  PREPARED_STATEMENTS: flag()
    .default(true)
    .meta({ description: 'Off for a PgBouncer that does not know prepared statements' }),
})

export type ConsoleConfig = z.output<typeof consoleConfig>
