import { z } from 'zod'
import type { CaptureSettings, HiddenKind } from '@gateway/api/console/capture'

// POST /content: prompts and answers of projects that capture them, sealed for the console (rules §7.11).

/** Of one request; the ledger stores nothing larger. */
export const capturedContentLimits = { items: 100, sealedCharacters: 1_000_000, bodyBytes: 4 * 1024 * 1024 } as const

const identifier = z.string().min(1).max(64)

/** How a project captures: what a Project Owner set, and the public key of the console. */
export interface CaptureRules {
  /** Changes with each change of the rules. Content captured by other rules is not stored. */
  version: string
  /** X25519, as base64url. */
  publicKey: string
  hide: HiddenKind[]
  /** RE2. */
  patterns: string[]
}

/** `control.projects.capture`: written by the console, read by the ledger; null: the project does not capture. */
export type StoredCapture =
  | (Pick<CaptureRules, 'version' | 'publicKey'> &
      CaptureSettings & {
        /** When capture was turned on: older content is deleted. */
        since: string
      })
  | null

/** POST /content/rules: null if the project does not capture. */
export const captureQuestion = z.strictObject({ project: identifier })
export type CaptureQuestion = z.infer<typeof captureQuestion>
export interface CaptureAnswer {
  rules: CaptureRules | null
}

export const capturedCalls = z.strictObject({
  calls: z
    .array(
      z.strictObject({
        invocation: identifier,
        project: identifier,
        /** Of the rules it was captured by. */
        version: identifier,
        /** Compact JWE. */
        sealed: z.string().min(1).max(capturedContentLimits.sealedCharacters),
      }),
    )
    .min(1)
    .max(capturedContentLimits.items),
})
export type CapturedCalls = z.infer<typeof capturedCalls>
