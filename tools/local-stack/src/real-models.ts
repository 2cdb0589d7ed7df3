import type { RealModel } from '@gateway/prisma/seeded'
import type { z } from 'zod'

/** A model with its price, before it is said who serves it. */
export type NamedModel = Omit<RealModel, 'provider'>

const entry = /^(?<model>[^@,\s]+)@(?<prompt>\d+(?:\.\d+)?)\/(?<completion>\d+(?:\.\d+)?)$/

/** Reads `model@input/output,…`, prices in USD per million tokens. */
export function readRealModels(text: string, context: z.RefinementCtx): NamedModel[] {
  return text.split(',').flatMap((part) => {
    const { model, prompt, completion } = entry.exec(part.trim())?.groups ?? {}
    if (model && prompt && completion) {
      return [{ model, promptUsdPerToken: perToken(prompt), completionUsdPerToken: perToken(completion) }]
    }
    context.addIssue({
      code: 'custom',
      message: `expected model@input/output in USD per million tokens, not "${part}"`,
    })
    return []
  })
}

/** Moves the decimal point six places, without the rounding of floating point. */
function perToken(usdPerMillion: string): string {
  const [whole = '0', fraction = ''] = usdPerMillion.split('.')
  const digits = whole.padStart(7, '0')
  const text = `${digits.slice(0, -6)}.${digits.slice(-6)}${fraction}`
  return text.replace(/^0+(?=\d)/, '').replace(/\.?0+$/, '')
}

interface Asked {
  OPENAI_API_KEY?: string | undefined
  OPENAI_BASE_URL?: string | undefined
  OPENAI_MODELS?: NamedModel[] | undefined
  ANTHROPIC_API_KEY?: string | undefined
  ANTHROPIC_MODELS?: NamedModel[] | undefined
}

/** The models that the environment asks for: those it names, or one of each provider that it holds nothing but a key for. */
export function realModelsOf(asked: Asked): RealModel[] {
  return [
    ...openAiModels(asked).map((model): RealModel => ({ ...model, provider: 'openai' })),
    ...anthropicModels(asked).map((model): RealModel => ({ ...model, provider: 'anthropic' })),
  ]
}

function openAiModels({ OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODELS }: Asked): NamedModel[] {
  if (OPENAI_MODELS) return OPENAI_MODELS
  if (!OPENAI_API_KEY || OPENAI_BASE_URL) return []
  return [{ model: 'gpt-4.1-mini', promptUsdPerToken: perToken('0.40'), completionUsdPerToken: perToken('1.60') }]
}

function anthropicModels({ ANTHROPIC_API_KEY, ANTHROPIC_MODELS }: Asked): NamedModel[] {
  if (!ANTHROPIC_API_KEY) return []
  if (ANTHROPIC_MODELS) return ANTHROPIC_MODELS
  return [{ model: 'claude-haiku-4-5', promptUsdPerToken: perToken('1'), completionUsdPerToken: perToken('5') }]
}
