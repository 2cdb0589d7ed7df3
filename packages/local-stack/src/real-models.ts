import type { z } from 'zod'

/** A model of a real origin with its price, both in USD per token as decimal strings. */
export interface RealModel {
  model: string
  promptUsdPerToken: string
  completionUsdPerToken: string
}

const entry = /^(?<model>[^@,\s]+)@(?<prompt>\d+(?:\.\d+)?)\/(?<completion>\d+(?:\.\d+)?)$/

/** Reads `model@input/output,…`, prices in USD per million tokens. */
export function readRealModels(text: string, context: z.RefinementCtx): RealModel[] {
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

/** The models that the environment asks for: those it names, or one where it holds nothing but an OpenAI key. */
export function realModelsOf(asked: {
  OPENAI_API_KEY?: string | undefined
  OPENAI_BASE_URL?: string | undefined
  OPENAI_MODELS?: RealModel[] | undefined
}): RealModel[] {
  if (asked.OPENAI_MODELS) return asked.OPENAI_MODELS
  if (!asked.OPENAI_API_KEY || asked.OPENAI_BASE_URL) return []
  return [{ model: 'gpt-4.1-mini', promptUsdPerToken: perToken('0.40'), completionUsdPerToken: perToken('1.60') }]
}
