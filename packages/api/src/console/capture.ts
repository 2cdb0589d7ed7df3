import { z } from 'zod'
import { exampleIds } from '../example-ids.ts'
import { id, label, time } from './fields.ts'

// Capture of prompts and answers: off unless a Project Owner turns it on (rules §7.11).

/** What can be recognized without a pattern. Credentials are always hidden. */
export const hiddenKind = z.enum(['email', 'phone', 'card', 'iban', 'address'])
export type HiddenKind = z.infer<typeof hiddenKind>

export const captureLimits = { retentionDays: { min: 1, max: 90 }, patterns: 10, patternCharacters: 200 } as const

export const captureSettings = z
  .strictObject({
    retentionDays: z
      .int()
      .min(captureLimits.retentionDays.min)
      .max(captureLimits.retentionDays.max)
      .describe('days after which captured content is deleted'),
    hide: z
      .array(hiddenKind)
      .max(hiddenKind.options.length)
      .describe('what is hidden in addition to credentials; address: an IP address'),
    patterns: z
      .array(label(captureLimits.patternCharacters))
      .max(captureLimits.patterns)
      .describe('regular expressions in RE2 syntax; what they match is hidden'),
  })
  .meta({ examples: [{ retentionDays: 7, hide: ['email'], patterns: ['CUST-[0-9]+'] }] })
export type CaptureSettings = z.infer<typeof captureSettings>

/** Characters of the request, and of the answer, that are captured; the rest is left out. */
export const CAPTURED_CHARACTERS = 65_536

export const capturedContent = z
  .strictObject({
    invocation: id,
    capturedAt: time,
    deletedAt: time.describe('when its retention ends'),
    request: z
      .looseObject({ messages: z.array(z.unknown()) })
      .describe('as forwarded to the model, without images and files'),
    answer: z.array(z.unknown()).nullable().describe('messages of the model; null: none came'),
    failure: z.string().nullable().describe('why the call failed; null: it did not'),
    isCut: z.boolean().describe(`whether more than ${CAPTURED_CHARACTERS} characters of a side were left out`),
  })
  .meta({
    examples: [
      {
        invocation: exampleIds.invocation,
        capturedAt: '2026-11-28T09:00:00.000Z',
        deletedAt: '2026-12-05T09:00:00.000Z',
        request: { messages: [{ role: 'user', content: 'Write to [email] about the offer.' }] },
        answer: [{ role: 'assistant', content: 'Dear customer, …' }],
        failure: null,
        isCut: false,
      },
    ],
  })
export type CapturedContent = z.infer<typeof capturedContent>
