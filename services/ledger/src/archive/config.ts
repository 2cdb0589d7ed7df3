import { wholeNumber } from '@gateway/service-kit/process/config'
import { z } from 'zod'

/** The least and the usual number of days for which a month has to be over. */
export const archiveAge = { least: 31, usual: 62 }

export const archiveAfterDays = () => wholeNumber({ min: archiveAge.least, max: 3_650 })

/** What `ledger archive` reads from its environment. */
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
