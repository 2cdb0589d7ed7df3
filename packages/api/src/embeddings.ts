import { z } from 'zod'
import type { ChatRequest } from './chat-request.ts'
import { exampleIds } from './example-ids.ts'
import { invalidField, invalidIssue, READABLE } from './field-problem.ts'
import { embeddingLimits } from './limits.ts'
import { utf8Bytes } from './text-bytes.ts'

const { inputs, inputBytes, inputTokens, totalBytes, totalTokens, dimensions } = embeddingLimits

const text = z.string().min(1)
const token = z
  .int()
  .min(0)
  .max(2 ** 31 - 1)
const tokenArray = z.array(token).min(1)

/** The body of POST /v1/embeddings before `null`s are removed. The API description is generated from it. */
export const embeddingsBody = z
  .strictObject({
    model: z.string().min(1).max(256),
    input: z
      .union([text, z.array(text).min(1).max(inputs), tokenArray, z.array(tokenArray).min(1).max(inputs)])
      .describe('a text, an array of texts, an array of tokens, or an array of token arrays'),
    encoding_format: z.enum(['float', 'base64']).default('float').describe('base64: little-endian 32-bit floats'),
    dimensions: z.int().min(dimensions.min).max(dimensions.max).optional(),
    user: z.unknown().optional().describe('ignored'),
    project_id: z.string().optional(),
  })
  .meta({ examples: [{ model: exampleIds.embeddingProduct, input: ['A harbour in the north', 'A quiet garden'] }] })

/** The answer. The API description is generated from it. */
export const embeddingsShape = z
  .strictObject({
    object: z.literal('list'),
    data: z.array(
      z.strictObject({
        object: z.literal('embedding'),
        index: z.int(),
        embedding: z.union([z.array(z.number()), z.string()]).describe('a string with `encoding_format` base64'),
      }),
    ),
    model: z.string(),
    usage: z.strictObject({
      prompt_tokens: z.int(),
      total_tokens: z.int(),
      cost: z.number().optional().describe('USD'),
      cost_micro: z.int().optional().describe('micro-USD'),
    }),
  })
  .meta({
    examples: [
      {
        object: 'list',
        data: [{ object: 'embedding', index: 0, embedding: [0.021, -0.137, 0.094] }],
        model: exampleIds.embeddingProduct,
        usage: { prompt_tokens: 9, total_tokens: 9, cost: 0.000001, cost_micro: 1 },
      },
    ],
  })

/** Inputs of one call: all texts, or all token arrays. */
export type EmbeddingInputs = { kind: 'texts'; texts: string[] } | { kind: 'tokens'; tokens: number[][] }

/** An embedding request that passed every check that needs no state. */
export interface EmbeddingRequest extends Pick<ChatRequest, 'model' | 'projectId' | 'promptSize'> {
  inputs: EmbeddingInputs
  format: 'float' | 'base64'
  /** Length of the vectors; null for the model's default. */
  dimensions: number | null
  /** Tokens of all inputs; null for texts, whose bytes bound them. */
  tokens: number | null
}

/** @throws Refusal `invalid_request` */
export function readEmbeddingRequest(body: unknown): EmbeddingRequest {
  const { success, data, error } = embeddingsBody.safeParse(withoutNulls(body), READABLE)
  if (!success) throw inputProblem(body) ?? invalidIssue(error.issues[0]!)
  const { model, input, encoding_format: format, dimensions: wanted = null, project_id: projectId = null } = data
  const read = inputsOf(input)
  const facts = { model, projectId, inputs: read, format, dimensions: wanted }
  const around = { tools: 0, images: 0, files: 0 }
  if (read.kind === 'texts')
    return {
      ...facts,
      tokens: null,
      promptSize: { ...around, bytes: boundedBytes(read.texts), messages: read.texts.length },
    }
  return {
    ...facts,
    tokens: boundedTokens(read.tokens),
    promptSize: { ...around, bytes: 0, messages: read.tokens.length },
  }
}

function withoutNulls(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
}

function inputsOf(input: z.infer<typeof embeddingsBody>['input']): EmbeddingInputs {
  if (typeof input === 'string') return { kind: 'texts', texts: [input] }
  if (isTexts(input)) return { kind: 'texts', texts: input }
  return { kind: 'tokens', tokens: isTokens(input) ? [input] : input }
}

function isTexts(input: unknown[]): input is string[] {
  return typeof input[0] === 'string'
}

function isTokens(input: number[] | number[][]): input is number[] {
  return typeof input[0] === 'number'
}

/** A union's own message names no bound and no entry, so these come first. */
function inputProblem(body: unknown) {
  const input = (body as { input?: unknown } | null)?.input
  if (input === '') return invalidField('input', 'is empty', 'send at least one character')
  if (!Array.isArray(input)) return null
  if (input.length === 0) return invalidField('input', 'is empty', `send 1 to ${inputs} entries`)
  if (typeof input[0] !== 'number' && input.length > inputs)
    return invalidField('input', `has ${input.length} entries`, `send at most ${inputs} entries`)
  const empty = input.findIndex((each) => each === '' || (Array.isArray(each) && each.length === 0))
  return empty < 0 ? null : invalidField(`input.${empty}`, 'is empty', 'leave it out')
}

function boundedBytes(texts: string[]): number {
  return boundedSum(texts.map(utf8Bytes), { each: inputBytes, total: totalBytes, unit: 'bytes' })
}

function boundedTokens(arrays: number[][]): number {
  const lengths = arrays.map(({ length }) => length)
  return boundedSum(lengths, { each: inputTokens, total: totalTokens, unit: 'tokens' })
}

function boundedSum(sizes: number[], { each, total, unit }: { each: number; total: number; unit: string }): number {
  const large = sizes.findIndex((size) => size > each)
  if (large >= 0)
    throw invalidField(`input.${large}`, `has ${sizes[large]} ${unit}`, `send at most ${each} ${unit} per entry`)
  const sum = sizes.reduce((all, size) => all + size, 0)
  if (sum > total) throw invalidField('input', `has ${sum} ${unit}`, `send at most ${total} ${unit} per request`)
  return sum
}
