import { z } from 'zod'
import { exampleIds, exampleValues } from '../example-ids.ts'
import { id, time } from './fields.ts'

// Sessions of a user, and the second factor: an authenticator app (RFC 6238) with recovery codes (decision 26).

export const sessionRecord = z
  .strictObject({
    id: id.describe('starts with ses_'),
    method: z.enum(['password', 'provider']),
    secondFactor: z.boolean().describe('whether it was opened or confirmed with a second factor'),
    address: z.string().describe('from which the user signed in'),
    device: z.string().describe('User-Agent of the browser'),
    createdAt: time,
    lastUsedAt: time.describe('to the minute'),
    expiresAt: time.describe('however often it is used'),
    current: z.boolean().describe('whether it is the session of this request'),
  })
  .meta({
    examples: [
      {
        id: exampleIds.session,
        method: 'password',
        secondFactor: true,
        address: '203.0.113.7',
        device: 'Mozilla/5.0 (X11; Linux x86_64; rv:146.0) Gecko/20100101 Firefox/146.0',
        createdAt: '2026-11-20T09:00:00.000Z',
        lastUsedAt: '2026-11-20T11:42:00.000Z',
        expiresAt: '2026-12-20T09:00:00.000Z',
        current: true,
      },
    ],
  })
export type SessionRecord = z.infer<typeof sessionRecord>

/** A code of the authenticator app, or a recovery code. Spaces, dashes and case are ignored. */
export const secondFactorCodeBody = z
  .strictObject({ code: z.string().min(1).max(64) })
  .meta({ examples: [{ code: exampleValues.secondFactorCode }] })

/** The response to a sign-in that lacks the code of the second factor. */
export const pendingSignIn = z
  .strictObject({ secondFactor: z.literal('required'), expiresAt: time })
  .meta({ examples: [{ secondFactor: 'required', expiresAt: '2026-11-20T09:10:00.000Z' }] })

export const newSecondFactorBody = z
  .strictObject({ password: z.string().max(256).optional().describe('required if the user has one') })
  .meta({ examples: [{ password: exampleValues.password }] })

export const secondFactorSetup = z
  .strictObject({
    secret: z.string().describe('base32, shown this once'),
    uri: z.string().describe('for a QR code that authenticator apps read'),
  })
  .meta({
    examples: [
      {
        secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
        uri: 'otpauth://totp/gateway.example.com:ada%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=gateway.example.com',
      },
    ],
  })

export const secondFactorRecord = z
  .strictObject({
    confirmedAt: time.nullable().describe('null: the user has none'),
    recoveryCodesLeft: z.int(),
  })
  .meta({ examples: [{ confirmedAt: '2026-11-20T09:00:00.000Z', recoveryCodesLeft: 10 }] })

export const recoveryCodes = z
  .strictObject({ recoveryCodes: z.array(z.string()).describe('shown this once; each is good once') })
  .meta({ examples: [{ recoveryCodes: ['k7wq-2m9d-x4ft-e6hz', 'b3np-8rjc-v5yg-a1ks'] }] })
