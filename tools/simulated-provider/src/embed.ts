import { seeded } from './seeded.ts'

/** Length of a vector if the request names none. */
const DIMENSIONS = 256

/** One input: a text, or tokens. */
export type EmbeddedInput = string | number[]

/** Returns the vector of an input, of length 1, the same for the same model, input and number of dimensions. */
export function vectorOf(model: string, input: EmbeddedInput, dimensions = DIMENSIONS): number[] {
  const numbers = seeded(`${model}\n${JSON.stringify(input)}`)
  const raw = Array.from({ length: dimensions }, () => numbers.next(20_001) - 10_000)
  const length = Math.hypot(...raw) || 1
  return raw.map((each) => Math.fround(each / length))
}

/** Tokens of an input: every fourth byte of a text, rounded up. */
export function tokensOf(input: EmbeddedInput): number {
  return typeof input === 'string' ? Math.ceil(Buffer.byteLength(input) / 4) : input.length
}

/** Little-endian 32-bit floats in base64. */
export function base64Of(vector: number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString('base64')
}

/** Texts or tokens of `input` in OpenAI's format. Throws an error that states what is wrong. */
export function inputsOf(input: unknown): EmbeddedInput[] {
  const inputs = typeof input === 'string' || isTokens(input) ? [input] : input
  if (!Array.isArray(inputs) || inputs.length === 0) throw new Error('input must not be empty')
  if (!inputs.every((each) => (typeof each === 'string' && each !== '') || isTokens(each)))
    throw new Error('input must be texts or tokens')
  return inputs as EmbeddedInput[]
}

function isTokens(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((each) => Number.isInteger(each))
}
