import { assetReadsConfig, assetStoreConfig } from '@gateway/assets/asset-store-config'
import { z } from 'zod'
import { trustedProxies } from '@gateway/service-kit/http/connections'
import {
  httpUrl,
  preparedStatements,
  publicUrl,
  quotasVariable,
  sharedSecret,
  wholeNumber,
} from '@gateway/service-kit/process/config'
import { servicePrivateKey } from '@gateway/service-kit/process/service-keys'

/** The issuer is kept unchanged, because it must equal the one the provider reports. */
function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || (protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname))
}

function isMailServer(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^smtps?:$/.test(url.protocol) && url.hostname !== '' && ['', '/'].includes(url.pathname)
}

function isSender(text: string): boolean {
  return /^(?:[^<>@,;:"\r\n]+ <[^\s<>@,;]+@[^\s<>@,;]+>|[^\s<>@,;]+@[^\s<>@,;]+)$/.test(text)
}

function leadsToTraces(text: string): boolean {
  const address = text.replaceAll('{invocation}', 'inv_1')
  return address !== text && URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)
}

/** Connections to the database that only revocations use. */
export const REVOCATION_CONNECTIONS = 2

/** Environment variables of the console. */
export const consoleConfig = z
  .object({
    DATABASE_URL: z
      .string()
      .min(1)
      .meta({ description: 'Postgres connection URL, with a login of the role svc_console', secret: true }),
    LEDGER_URL: httpUrl().meta({ description: 'Address of the ledger' }),
    SERVICE_PRIVATE_KEY: servicePrivateKey().meta({
      description: 'Ed25519 key with which the console signs its requests to the ledger, as PEM',
      secret: true,
    }),
    DATABASE_CONNECTIONS: wholeNumber({ min: REVOCATION_CONNECTIONS + 1, max: 100 })
      .default(8)
      .meta({
        description: `Number of connections to Postgres. Revocations have ${REVOCATION_CONNECTIONS} of them for themselves`,
      }),
    MAX_CONCURRENT_REQUESTS: wholeNumber({ min: 2, max: 100_000 }).default(256).meta({
      description:
        'Maximum number of concurrent requests of signed-in users and tokens, and as many again of other callers. Further requests are refused with `overloaded`. Revocations and followers have separate limits',
    }),
    MAX_CONCURRENT_REQUESTS_PER_USER: wholeNumber({ min: 1, max: 100_000 })
      .default(32)
      .meta({ description: 'Maximum number of concurrent requests per user or token' }),
    MAX_CONCURRENT_REQUESTS_PER_TENANT: wholeNumber({ min: 1, max: 100_000 }).optional().meta({
      description:
        'Maximum number of concurrent requests per organization. Without it, as many as leave room for other organizations',
    }),
    MAX_FOLLOWERS: wholeNumber({ min: 2, max: 100_000 }).default(1_024).meta({
      description: 'Maximum number of requests that follow an execution or wait for its end',
    }),
    MAX_FOLLOWERS_PER_USER: wholeNumber({ min: 1, max: 100_000 }).default(8).meta({
      description: 'Maximum number of requests per user or token that follow an execution or wait for its end',
    }),
    APPOINTMENT_DELAY_HOURS: wholeNumber({ min: 1, max: 720 }).default(72).meta({
      description:
        'Number of hours after which a Project Owner becomes one whom an Admin appointed for a project that lost its owners. Meanwhile the former owners and the Admins may object',
    }),
    AUDIT_RETENTION_DAYS: wholeNumber({ min: 30, max: 36_500 })
      .default(400)
      .meta({ description: 'Number of days for which entries of the audit are kept' }),
    ...assetStoreConfig,
    QUOTAS: quotasVariable(),
    ...assetReadsConfig,
    PREPARED_STATEMENTS: preparedStatements(),
    TRUSTED_PROXIES: trustedProxies(),
    SECOND_FACTOR_KEY: sharedSecret().meta({
      description: 'Key with which the secrets of authenticator apps are encrypted',
      secret: true,
    }),
    SECOND_FACTOR_KEY_PREVIOUS: sharedSecret().optional().meta({
      description: 'The previous SECOND_FACTOR_KEY, as long as authenticator apps set up with it exist',
      secret: true,
    }),
    CAPTURE_KEY: sharedSecret().optional().meta({
      description:
        'Key from which the key pairs of captured prompts and answers are derived. Without it, no project can capture them',
      secret: true,
    }),
    CAPTURE_KEY_PREVIOUS: sharedSecret().optional().meta({
      description: 'The previous CAPTURE_KEY, as long as content captured under it is kept',
      secret: true,
    }),
    REQUESTS_PER_ADDRESS: wholeNumber({ min: 1, max: 1_000_000 })
      .default(50)
      .meta({ description: 'Requests a minute of an address without a credential, such as sign-ins on new devices' }),
    SESSION_IDLE_SECONDS: wholeNumber({ min: 60, max: 31_536_000 })
      .default(43_200)
      .meta({ description: 'Time after which a session that is not used ends' }),
    SESSION_MAX_SECONDS: wholeNumber({ min: 60, max: 31_536_000 })
      .default(2_592_000)
      .meta({ description: 'Time after which a session ends however often it is used' }),
    PUBLIC_URL: publicUrl().meta({
      description: 'Public base URL of the service, for example https://models.example.com',
    }),
    TRACE_URL: z
      .string()
      .refine(leadsToTraces, 'expected an address that starts with http:// or https:// and has {invocation} in it')
      .optional()
      .meta({
        description:
          'URL of the trace of a call, with `{invocation}` for its ID. The console links to it from the call page',
      }),
    SMTP_URL: z
      .string()
      .refine(isMailServer, 'expected an address like smtps://user:password@mail.example.com, without a path')
      .optional()
      .meta({
        description:
          'Mail server for invitations, password resets and alerts: `smtps://` for TLS from the start (port 465), `smtp://` for STARTTLS (port 587), with user and password if it needs them. Without it, Admins hand over the links of invitations, the platform operator those of password resets, and alerts do not go by email',
        secret: true,
      }),
    SMTP_TLS: z.enum(['required', 'none']).default('required').meta({
      description:
        'Whether a mail server at `smtp://` must offer STARTTLS with a valid certificate. `none` only for a server on this machine or in a private network',
    }),
    SMTP_TIMEOUT_MS: wholeNumber({ min: 100, max: 120_000 })
      .default(10_000)
      .meta({ description: 'Maximum milliseconds for each step of sending a mail' }),
    MAIL_FROM: z
      .string()
      .refine(isSender, 'expected an address like models@example.com or Models <models@example.com>')
      .optional()
      .meta({ description: 'Sender of mails, such as `Models <models@example.com>`' }),
    OIDC_ISSUER: z
      .string()
      .refine(isIssuer, 'expected an address that starts with https://, or http:// on this machine')
      .optional()
      .meta({ description: 'OpenID Connect issuer for single sign-on, in addition to passwords' }),
    OIDC_CLIENT_ID: z
      .string()
      .min(1)
      .optional()
      .meta({ description: 'Client ID of the console at the OpenID Connect issuer' }),
    OIDC_CLIENT_SECRET: z
      .string()
      .min(1)
      .optional()
      .meta({ description: 'Client secret at the OpenID Connect issuer. Omit for a public client', secret: true }),
  })
  .superRefine((config, context) => {
    const needed = (path: keyof typeof config, by: keyof typeof config) =>
      config[path] === undefined && context.addIssue({ code: 'custom', path: [path], message: `${by} needs it` })
    if (config.OIDC_ISSUER !== undefined) {
      needed('OIDC_CLIENT_ID', 'OIDC_ISSUER')
      needed('PUBLIC_URL', 'OIDC_ISSUER')
    }
    if (config.SMTP_URL !== undefined) {
      needed('MAIL_FROM', 'SMTP_URL')
      needed('PUBLIC_URL', 'SMTP_URL') // links in mails never follow the Host header of a request
    }
  })

export type ConsoleConfig = z.output<typeof consoleConfig>
