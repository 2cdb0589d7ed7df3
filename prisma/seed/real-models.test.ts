import { expect, test } from 'vitest'
import { realProduct, type RealModel } from './real-models.ts'

const priced = { promptUsdPerToken: '0.000001', completionUsdPerToken: '0.000005' }
const product = (real: Pick<RealModel, 'provider' | 'model' | 'limits'>) => realProduct({ ...priced, ...real })

test('a model has the limits that are known of it, and not those of all models', () => {
  expect(product({ provider: 'openai', model: 'gpt-5' })).toMatchObject({
    contextLength: 400_000,
    maxOutputTokens: 128_000,
    tokenizer: 'o200k_base',
    inputModalities: ['text', 'image', 'file'],
  })
  expect(product({ provider: 'openai', model: 'llama3' })).toMatchObject({
    contextLength: 32_768,
    maxOutputTokens: 4096,
  })
})

test('what is said of its limits wins', () => {
  const limits = { contextLength: 8192, maxTokensPerImage: 700 }
  const { contextLength, maxOutputTokens, maxTokensPerImage } = product({ provider: 'openai', model: 'llama3', limits })
  expect([contextLength, maxOutputTokens, maxTokensPerImage]).toEqual([8192, 4096, 700])
})

test('a small context leaves room for a prompt alongside the longest answer', () => {
  const { maxOutputTokens } = product({ provider: 'openai', model: 'llama3', limits: { contextLength: 4096 } })
  expect(maxOutputTokens).toBe(2048)
})

test('a byte is a token at most where the model can be counted, and half of one where not', () => {
  const rateOf = (model: string, limits?: RealModel['limits']) =>
    product({ provider: 'openai', model, limits }).tokensPerByteMillionths
  expect(rateOf('gpt-5')).toBe(1_000_000)
  expect(rateOf('gpt-5', { tokenizer: null })).toBe(500_000)
  expect(rateOf('llama3')).toBe(500_000)
  expect(rateOf('llama3', { tokenizer: 'cl100k_base' })).toBe(1_000_000)
})

test('Bedrock knows a model by more than its name, and takes less for it', () => {
  const model = 'us.anthropic.claude-haiku-4-5-20251001-v1:0'
  const { id, contextLength, supportedParameters } = product({ provider: 'bedrock', model })
  expect([id, contextLength]).toEqual([model, 200_000])
  expect(supportedParameters).toContain('tools')
  for (const absent of ['parallel_tool_calls', 'response_format', 'reasoning_effort', 'seed'])
    expect(supportedParameters).not.toContain(absent)
})
