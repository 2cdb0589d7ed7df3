import type { RealModel } from '@gateway/prisma/seeded'
import type { z } from 'zod'

/** A model with its price, without its provider. */
export type NamedModel = Omit<RealModel, 'provider' | 'limits'>

// A price per token has 12 decimal places (money §1.2), so a price per million tokens has 6.
const entry = /^(?<model>[^@,\s]+)@(?<prompt>\d+(?:\.\d{1,6})?)\/(?<completion>\d+(?:\.\d{1,6})?)$/

/** Parses `model@input/output,…`, prices in USD per million tokens. */
export function readRealModels(text: string, context: z.RefinementCtx): NamedModel[] {
  return text.split(',').flatMap((part) => {
    const { model, prompt, completion } = entry.exec(part.trim())?.groups ?? {}
    if (model && prompt && completion) return [priced(model, prompt, completion)]
    context.addIssue({
      code: 'custom',
      message: `expected model@input/output in USD per million tokens, with at most 6 places, not "${part}"`,
    })
    return []
  })
}

/** @param prompt USD per million tokens, like `completion` */
export function priced(model: string, prompt: string, completion: string): NamedModel {
  return { model, promptUsdPerToken: perToken(prompt), completionUsdPerToken: perToken(completion) }
}

/** Moves the decimal point six places, without the rounding of floating point. */
function perToken(usdPerMillion: string): string {
  const [whole = '0', fraction = ''] = usdPerMillion.split('.')
  const digits = whole.padStart(7, '0')
  const text = `${digits.slice(0, -6)}.${digits.slice(-6)}${fraction}`
  return text.replace(/^0+(?=\d)/, '').replace(/\.?0+$/, '')
}
