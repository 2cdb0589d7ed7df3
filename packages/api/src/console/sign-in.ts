import { z } from 'zod'
import { exampleIds, exampleValues } from '../example-ids.ts'
import { tokenPermission } from './access-tokens.ts'
import { isConsoleAddress } from './console-address.ts'
import { readScopes, scope } from './scopes.ts'
import { id, label, named, projectRole, teamRole, tenantRole, time } from './fields.ts'

export const email = z.string().trim().toLowerCase().max(254).pipe(z.email())
export const password = z.string().min(12).max(256)

/** 32 random bytes in base64url. */
export const linkSecret = z.string().regex(/^[\w-]{43}$/, 'must be the 43 characters after # in the link')
export const linkSecretExample = exampleValues.signInCode

export const signInBody = z
  .strictObject({ email, password: z.string().min(1).max(256) })
  .meta({ examples: [{ email: exampleValues.email, password: exampleValues.password }] })

/** What the page shows before sign-in. */
export const signInMethods = z
  .strictObject({
    baseUrl: z.string().nullable().describe('base URL for calls; null: that of the console'),
    provider: z
      .strictObject({ path: z.string(), isReached: z.boolean() })
      .nullable()
      .describe('URL at which a browser signs in through OpenID Connect'),
    secondFactor: z.boolean().describe('whether the sign-in of this browser lacks only the code of the second factor'),
    sendsMail: z
      .boolean()
      .describe('whether a forgotten password is reset by mail; else the platform operator makes a link for it'),
  })
  .meta({
    examples: [{ baseUrl: 'https://gateway.example.com/v1', provider: null, secondFactor: false, sendsMail: true }],
  })
export type SignInMethods = z.infer<typeof signInMethods>

export const oidcRedirectQuery = z
  .strictObject({
    returnTo: z
      .string()
      .refine(isConsoleAddress, 'must be an address of the console, such as /console/account')
      .optional()
      .describe('path of the console to return to, without the host; by default its start page'),
  })
  .meta({ examples: [{ returnTo: '/console/account' }] })

export const resetBody = z.strictObject({ email }).meta({ examples: [{ email: exampleValues.email }] })
/** The secret in the link of a reset. */
export const completeResetBody = z
  .strictObject({ secret: linkSecret, password })
  .meta({ examples: [{ secret: linkSecretExample, password: exampleValues.newPassword }] })
export const resetLink = z
  .strictObject({
    link: z
      .string()
      .describe('shown this once, to be handed over; without a host if the operator names none')
      .meta({ examples: [`https://gateway.example.com/console/reset#${linkSecretExample}`] }),
    expiresAt: time,
  })
  .meta({
    examples: [
      {
        link: `https://gateway.example.com/console/reset#${linkSecretExample}`,
        expiresAt: '2026-11-20T10:00:00.000Z',
      },
    ],
  })

/** `current` is required if a password is already set. */
export const passwordBody = z
  .strictObject({ password, current: z.string().max(256).optional() })
  .meta({ examples: [{ password: exampleValues.newPassword, current: exampleValues.password }] })

export const meRecord = z
  .strictObject({
    id,
    email: z.string(),
    name: z.string(),
    platformOperator: z.boolean(),
    traceUrl: z
      .string()
      .nullable()
      .describe('URL of the trace of a call, with `{invocation}` for its ID; null: not configured'),
    permissions: z
      .array(tokenPermission)
      .nullable()
      .describe(
        'permissions of a service token, within its roles; null: a user, who has all permissions of their roles',
      ),
    scopes: z.array(scope).nullable().describe('of a personal token; null: a session, or a token of a program'),
    secondFactor: z.boolean().describe('whether the session, or the one that made the token, had a second factor'),
    tenants: z.array(
      named.extend({
        role: tenantRole,
        needsSecondFactor: z
          .boolean()
          .describe('whether all in it is refused until the user signs in with a second factor'),
        teams: z.array(named.extend({ role: teamRole })),
        projects: z.array(named.extend({ role: projectRole })),
      }),
    ),
  })
  .meta({
    examples: [
      {
        id: exampleIds.user,
        email: exampleValues.email,
        name: 'Ada',
        platformOperator: false,
        traceUrl: null,
        permissions: null,
        scopes: null,
        secondFactor: true,
        tenants: [
          {
            id: exampleIds.tenant,
            name: 'Acme',
            role: 'Admin',
            needsSecondFactor: false,
            teams: [{ id: exampleIds.team, name: 'Search', role: 'Team Owner' }],
            projects: [{ id: exampleIds.project, name: 'Summaries', role: 'Project Owner' }],
          },
        ],
      },
    ],
  })
export type MeRecord = z.infer<typeof meRecord>

export const newTokenBody = z
  .strictObject({
    name: label(100),
    scopes: z
      .array(scope)
      .min(1)
      .max(30)
      .default([...readScopes])
      .describe('what it may do of what its user may; `:write` includes `:read`; by default it reads'),
    expiresInDays: z.int().min(1).max(365).default(90),
  })
  .meta({ examples: [{ name: 'My laptop', scopes: ['flows:write', 'money:read'], expiresInDays: 30 }] })
export const tokenRecord = z
  .strictObject({
    id,
    name: z.string(),
    prefix: z.string(),
    scopes: z.array(scope),
    createdAt: time,
    expiresAt: time,
  })
  .meta({
    examples: [
      {
        id: exampleIds.token,
        name: 'My laptop',
        prefix: 'svu_8Kq2ZtYb',
        scopes: ['flows:write', 'money:read'],
        createdAt: '2026-11-20T09:00:00.000Z',
        expiresAt: '2026-12-20T09:00:00.000Z',
      },
    ],
  })
export type TokenRecord = z.infer<typeof tokenRecord>

// A program on a user's machine gets a personal token from the console open in that user's browser (decision 20).

/** SHA-256, or 32 random bytes, in base64url. */
const bytes32 = z.string().regex(/^[\w-]{43}$/, 'must be 43 characters of base64url')

/** The personal token to create, and a challenge that only the requesting program can answer. */
export const newSignInCodeBody = newTokenBody
  .extend({ challenge: bytes32.describe('PKCE code challenge: the SHA-256 of the verifier, in base64url') })
  .meta({
    examples: [
      {
        name: 'gateway on laptop',
        scopes: ['flows:write', 'keys:read'],
        challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      },
    ],
  })

export const signInCode = z
  .strictObject({ code: bytes32.describe('shown only once, single use'), expiresAt: time })
  .meta({
    examples: [{ code: exampleValues.signInCode, expiresAt: '2026-11-20T09:05:00.000Z' }],
  })

export const redeemedSignInCodeBody = z
  .strictObject({ code: bytes32, verifier: bytes32.describe('PKCE code verifier of the challenge') })
  .meta({
    examples: [
      {
        code: exampleValues.signInCode,
        verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
      },
    ],
  })

export const tokenOfCode = z.strictObject({
  token: tokenRecord,
  secret: z
    .string()
    .describe('shown only once')
    .meta({ examples: ['svu_shown-once'] }),
})
