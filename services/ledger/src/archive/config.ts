import { wholeNumber } from '@gateway/service-kit/process/config'
import { z } from 'zod'

/** The least and the usual number of days for which a month has to be over. */
export const archiveAge = { least: 31, usual: 62 }

export const archiveAfterDays = () => wholeNumber({ min: archiveAge.least, max: 3_650 })

/** What `ledger archive` reads from its environment. */
export const archiveConfig = z.object({
  DATABASE_URL: z.string().min(1).meta({
    description:
      'Postgres, as the owner of the tables, as the migration job has it; straight to it and not through a pooler',
    secret: true,
  }),
  ARCHIVE_FOLDER: z
    .string()
    .optional()
    .meta({ description: 'The folder for the files, where `--to` names none; kept as long as the books are' }),
  ARCHIVE_AFTER_DAYS: archiveAfterDays()
    .default(archiveAge.usual)
    .meta({ description: 'For how many days a month has to be over before it is archived' }),
})
