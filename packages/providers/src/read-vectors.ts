import { embeddingLimits } from '@gateway/api/limits'
import { isBase64 } from '@gateway/api/text-bytes'
import type { EmbeddingWish } from './embedding-port.ts'
import { UnfitAnswer } from './untrusted.ts'

/**
 * Checks the vectors of a response: one for each input, all of the requested length or, if none was requested, of one
 * length. Throws `UnfitAnswer`.
 */
export function readVectors(values: unknown[], { inputs, dimensions }: EmbeddingWish): Float32Array[] {
  const expected = inputs.kind === 'texts' ? inputs.texts.length : inputs.tokens.length
  if (values.length !== expected) throw new UnfitAnswer('the number of vectors is not the number of inputs')
  const vectors = values.map(vectorOf)
  const length = dimensions ?? vectors[0]!.length
  if (vectors.some((vector) => vector.length !== length)) throw new UnfitAnswer('a vector has another length')
  return vectors
}

/** Reads an array of numbers, or little-endian 32-bit floats in base64. */
function vectorOf(value: unknown): Float32Array {
  const vector = typeof value === 'string' ? decoded(value) : numbers(value)
  if (vector.length < 1 || vector.length > embeddingLimits.dimensions.max)
    throw new UnfitAnswer('a vector is empty or too long')
  if (!vector.every(Number.isFinite)) throw new UnfitAnswer('a vector has an entry that is not a finite number')
  return vector
}

function decoded(base64: string): Float32Array {
  if (!isBase64(base64)) throw new UnfitAnswer('a vector is not base64')
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length % 4 !== 0) throw new UnfitAnswer('a vector is not made of 32-bit floats')
  return new Float32Array(new Uint8Array(bytes).buffer)
}

function numbers(value: unknown): Float32Array {
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'number'))
    throw new UnfitAnswer('a vector is not an array of numbers')
  return Float32Array.from(value)
}
