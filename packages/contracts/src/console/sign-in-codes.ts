import { z } from 'zod'
import { exampleValues } from '../example-ids.ts'
import { time } from './fields.ts'
import { newTokenBody, tokenRecord } from './sign-in.ts'

// A program on somebody's machine gets a personal token from the console that is open in their browser (decision 20).

/** SHA-256, or 32 random bytes, in base64url. */
const bytes32 = z.string().regex(/^[\w-]{43}$/, 'must be 43 characters of base64url')

/** The personal token that is to be made, and what only the program that asks can answer. */
export const newSignInCodeBody = newTokenBody
  .extend({ challenge: bytes32.describe('of PKCE: the SHA-256 of the verifier, in base64url') })
  .meta({ examples: [{ name: 'gateway on laptop', challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM' }] })

export const signInCode = z
  .strictObject({ code: bytes32.describe('shown this once, good once'), expiresAt: time })
  .meta({
    examples: [{ code: exampleValues.signInCode, expiresAt: '2026-11-20T09:05:00.000Z' }],
  })

export const redeemedSignInCodeBody = z
  .strictObject({ code: bytes32, verifier: bytes32.describe('of PKCE: what its challenge was made of') })
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
    .describe('shown this once')
    .meta({ examples: ['svu_shown-once'] }),
})
