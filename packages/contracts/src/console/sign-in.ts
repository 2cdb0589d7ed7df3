import { z } from 'zod'
import { id, label, named, time } from './fields.ts'
import { projectRole, teamRole, tenantRole } from './roles.ts'

export const email = z.string().trim().toLowerCase().max(254).pipe(z.email())
export const password = z.string().min(12).max(256)

export const signInBody = z.strictObject({ email, password: z.string().min(1).max(256) })

/** What the page needs to know before anybody is signed in. */
export const signInMethods = z.strictObject({
  baseUrl: z.string().nullable().describe('where the models are called; null: at the address of the console'),
  provider: z
    .strictObject({ path: z.string(), isReached: z.boolean() })
    .nullable()
    .describe('where a browser goes to sign in through OpenID Connect'),
})
export type SignInMethods = z.infer<typeof signInMethods>

/** `current` is needed once a password has been set. */
export const passwordBody = z.strictObject({ password, current: z.string().max(256).optional() })

export const meRecord = z.strictObject({
  id,
  email: z.string(),
  name: z.string(),
  platformOperator: z.boolean(),
  tenants: z.array(
    named.extend({
      role: tenantRole,
      teams: z.array(named.extend({ role: teamRole })),
      projects: z.array(named.extend({ role: projectRole })),
    }),
  ),
})
export type MeRecord = z.infer<typeof meRecord>

export const newTokenBody = z.strictObject({ name: label(100), expiresInDays: z.int().min(1).max(365).default(90) })
export const tokenRecord = z.strictObject({
  id,
  name: z.string(),
  prefix: z.string(),
  createdAt: time,
  expiresAt: time.nullable(),
})
export type TokenRecord = z.infer<typeof tokenRecord>
