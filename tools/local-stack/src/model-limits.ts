import { hasRoomForPrompt, type ModelLimits } from '@gateway/prisma/seeded'
import { z } from 'zod'

const tokens = z.int().min(1).max(10_000_000)

/** Shape of `MODEL_LIMITS`: overrides by model name, for known models and for the defaults of unknown ones. */
const modelLimits = z.record(
  z.string().min(1),
  z
    .strictObject({
      contextLength: tokens,
      maxOutputTokens: tokens,
      tokenizer: z.enum(['o200k_base', 'cl100k_base']).nullable(),
      inputModalities: z.array(z.enum(['text', 'image'])).min(1),
      maxTokensPerImage: z.int().min(1).max(100_000).nullable(),
      supportedParameters: z.array(z.string().regex(/^[a-z_]{1,64}$/)).max(64),
    })
    .partial()
    .refine(({ contextLength = Infinity, maxOutputTokens = 0 }) => maxOutputTokens <= contextLength, {
      path: ['maxOutputTokens'],
      error: 'must be at most its contextLength',
    })
    .refine(
      ({ contextLength = Infinity, maxOutputTokens = 1 }) => hasRoomForPrompt({ contextLength, maxOutputTokens }),
      {
        path: ['maxOutputTokens'],
        error:
          'must leave room for a prompt: a call without max_tokens asks for the smaller of it and 8192, which must be below its contextLength. Lower it, or raise contextLength',
      },
    ),
)

export type LimitsByModel = Record<string, Partial<ModelLimits>>

/** Parses the JSON text of `MODEL_LIMITS`. */
export function readModelLimits(text: string, context: z.RefinementCtx): LimitsByModel {
  const read = modelLimits.safeParse(parsed(text))
  if (read.success) return read.data as LimitsByModel
  const [issue] = read.error.issues
  context.addIssue({
    code: 'custom',
    message: `expected JSON such as {"llama3":{"contextLength":8192}}; ${issue!.path.join('.') || 'the text'}: ${issue!.message}`,
  })
  return {}
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
