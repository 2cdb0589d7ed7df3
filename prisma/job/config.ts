import { isWellFormedSecret, USER_TOKEN_PREFIX } from '@gateway/api/ids'
import { sharedSecret } from '@gateway/service-kit/process/config'
import { z } from 'zod'

/** What the migration job reads from its environment. */
export const jobConfig = z
  .object({
    DATABASE_URL: z.string().min(1).meta({
      description:
        'Postgres connection URL of the database owner, who may create roles. Connect directly, not through a transaction pooler',
      secret: true,
    }),
    LEDGER_DATABASE_PASSWORD: sharedSecret().optional().meta({
      description: 'Password for the login svc_ledger_login. Without it, the password is unchanged',
      secret: true,
    }),
    CONSOLE_DATABASE_PASSWORD: sharedSecret().optional().meta({
      description: 'Password for the login svc_console_login. Without it, the password is unchanged',
      secret: true,
    }),
    OPERATOR_EMAIL: z
      .email()
      .toLowerCase()
      .optional()
      .meta({ description: 'Email of the first platform operator, who is added if there is none' }),
    OPERATOR_TOKEN: z
      .string()
      .refine(
        (text) => isWellFormedSecret(USER_TOKEN_PREFIX, text),
        'expected a token from new-token, a program of the migrate image',
      )
      .optional()
      .meta({
        description:
          'Personal token with which the first operator sets a password. Expires after a day. Not needed if users sign in through OpenID Connect',
        secret: true,
      }),
    MIGRATE_AGAIN: z.string().optional().meta({
      description: 'Name of an unfinished non-transactional migration to retry; to be removed afterwards',
    }),
  })
  .superRefine((config, context) => {
    const needed = (path: keyof typeof config, by: string) =>
      context.addIssue({ code: 'custom', path: [path], message: `${by} needs it` })
    if (config.LEDGER_DATABASE_PASSWORD !== undefined && config.CONSOLE_DATABASE_PASSWORD === undefined)
      needed('CONSOLE_DATABASE_PASSWORD', 'LEDGER_DATABASE_PASSWORD')
    if (config.CONSOLE_DATABASE_PASSWORD !== undefined && config.LEDGER_DATABASE_PASSWORD === undefined)
      needed('LEDGER_DATABASE_PASSWORD', 'CONSOLE_DATABASE_PASSWORD')
    if (config.OPERATOR_TOKEN !== undefined && config.OPERATOR_EMAIL === undefined)
      needed('OPERATOR_EMAIL', 'OPERATOR_TOKEN')
  })

export type JobConfig = z.output<typeof jobConfig>
