import { wholeNumber } from '@gateway/service-kit/process/config'
import { z } from 'zod'

/** Minimum and default number of days between the end of a month and its archiving. */
export const archiveAge = { least: 31, usual: 62 }

export const archiveAfterDays = () => wholeNumber({ min: archiveAge.least, max: 3_650 })

/** Environment variables of `ledger archive`. */
export const archiveConfig = z.object({
  DATABASE_URL: z.string().min(1).meta({
    description:
      'Postgres connection URL of the table owner, as for the migration job. Connect directly, not through a pooler',
    secret: true,
  }),
  ARCHIVE_FOLDER: z
    .string()
    .optional()
    .meta({ description: 'Folder for the files if `--to` is not given. Keep it as long as the books' }),
  ARCHIVE_AFTER_DAYS: archiveAfterDays()
    .default(archiveAge.usual)
    .meta({ description: 'Number of days after the end of a month before it is archived' }),
})
