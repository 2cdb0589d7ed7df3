import { assetReadsConfig, assetStoreConfig } from '@gateway/assets/asset-store-config'
import { z } from 'zod'
import { trustedProxies } from '@gateway/service-kit/http/trusted-proxies'
import { flag, httpUrl, quotasVariable, sharedSecret, wholeNumber } from '@gateway/service-kit/process/config'
import { servicePrivateKey } from '@gateway/service-kit/process/service-keys'

/** The issuer is kept unchanged, because it must equal the one the provider reports. */
function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || (protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname))
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
    PREPARED_STATEMENTS: flag()
      .default(true)
      .meta({ description: 'Use prepared statements. Turn off for a PgBouncer without support for them' }),
    TRUSTED_PROXIES: trustedProxies(),
    SECOND_FACTOR_KEY: sharedSecret().meta({
      description: 'Key with which the secrets of authenticator apps are encrypted',
      secret: true,
    }),
    SECOND_FACTOR_KEY_PREVIOUS: sharedSecret().optional().meta({
      description: 'The previous SECOND_FACTOR_KEY, as long as authenticator apps set up with it exist',
      secret: true,
    }),
    SESSION_IDLE_SECONDS: wholeNumber({ min: 60, max: 31_536_000 })
      .default(43_200)
      .meta({ description: 'Time after which a session that is not used ends' }),
    SESSION_MAX_SECONDS: wholeNumber({ min: 60, max: 31_536_000 })
      .default(2_592_000)
      .meta({ description: 'Time after which a session ends however often it is used' }),
    PUBLIC_URL: httpUrl()
      .refine((url) => new URL(url).href === `${url}/`, 'expected an address without a path')
      .optional()
      .meta({ description: 'Public base URL of the service, for example https://models.example.com' }),
    TRACE_URL: z
      .string()
      .refine(leadsToTraces, 'expected an address that starts with http:// or https:// and has {invocation} in it')
      .optional()
      .meta({
        description:
          'URL of the trace of a call, with `{invocation}` for its ID. The console links to it from the call page',
      }),
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
    const needed = (path: keyof typeof config) =>
      config[path] === undefined && context.addIssue({ code: 'custom', path: [path], message: 'OIDC_ISSUER needs it' })
    if (config.OIDC_ISSUER !== undefined) {
      needed('OIDC_CLIENT_ID')
      needed('PUBLIC_URL')
    }
  })

export type ConsoleConfig = z.output<typeof consoleConfig>
