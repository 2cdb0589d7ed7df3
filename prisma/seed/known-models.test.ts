import { describe, expect, test } from 'vitest'
import { limitsOf, unknownModel } from './known-models.ts'

describe('the limits of a model that is known by its name', () => {
  test.each([
    ['gpt-4o-2024-08-06', 128_000, 16_384],
    ['gpt-4.1-mini', 1_047_576, 32_768],
    ['o3', 200_000, 100_000],
    ['o4-mini-2025-04-16', 200_000, 100_000],
    ['gpt-5', 400_000, 128_000],
    ['gpt-5-mini', 400_000, 128_000],
    ['gpt-5.4', 1_050_000, 128_000],
    ['gpt-5.4-mini', 400_000, 128_000],
    ['claude-haiku-4-5', 200_000, 64_000],
    ['claude-opus-4-1-20250805', 200_000, 32_000],
    ['claude-opus-5', 1_000_000, 128_000],
    ['gemini-2.5-pro', 1_048_576, 65_536],
    ['gemini-2.0-flash', 1_048_576, 8192],
  ])('%s takes %i tokens and answers %i at most', (model, contextLength, maxOutputTokens) => {
    expect(limitsOf(model)).toMatchObject({ contextLength, maxOutputTokens })
  })

  test('models that reason take no sampling, and say so', () => {
    for (const model of ['o3', 'gpt-5', 'gpt-5.4', 'claude-opus-4-7', 'claude-sonnet-5'])
      expect(limitsOf(model).supportedParameters).not.toContain('temperature')
    expect(limitsOf('gpt-4o').supportedParameters).toContain('temperature')
    expect(limitsOf('o3').supportedParameters).toContain('reasoning_effort')
  })

  test('models of Anthropic list nothing that they are never asked for', () => {
    const families = ['3-haiku', '3-5-sonnet', '3-7-sonnet', 'opus-4-1', 'sonnet-4-5', 'opus-4-6', 'opus-5']
    const refused = ['seed', 'frequency_penalty', 'presence_penalty', 'logit_bias', 'logprobs', 'verbosity']
    for (const family of families) {
      const { supportedParameters } = limitsOf(`claude-${family}`)
      expect(supportedParameters).toContain('max_tokens')
      expect([family, supportedParameters.filter((name) => refused.includes(name))]).toEqual([family, []])
    }
  })

  test('only models with their own tokenizer are counted by it', () => {
    expect(limitsOf('gpt-5-nano').tokenizer).toBe('o200k_base')
    expect(limitsOf('claude-haiku-4-5').tokenizer).toBeNull()
    expect(limitsOf('gemini-3-pro-preview').tokenizer).toBeNull()
  })

  test('models that read PDF files list them', () => {
    for (const model of ['gpt-4o', 'o3', 'gpt-5-mini', 'claude-haiku-4-5', 'gemini-2.5-flash', 'gemini-3-pro'])
      expect([model, limitsOf(model).inputModalities]).toEqual([model, expect.arrayContaining(['file'])])
    for (const model of ['o3-mini', 'claude-3-haiku-20240307'])
      expect(limitsOf(model).inputModalities).not.toContain('file')
  })

  test('what no one knows gets limits that are small', () => {
    for (const model of ['llama3', 'my-gpt-5', 'qwen3:8b']) expect(limitsOf(model)).toBe(unknownModel)
    expect(unknownModel).toMatchObject({ contextLength: 32_768, maxOutputTokens: 4096, maxTokensPerImage: null })
  })
})
