import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { realModelsOf } from './real-models.ts'
import { readStackConfig } from './stack-config.ts'
import { providersOf } from './stack-providers.ts'

const projectFolder = path.resolve(import.meta.dirname, '../../..')

describe('the configuration of npm start', () => {
  test('needs nothing', () => {
    const config = readStackConfig({})
    expect(config).toMatchObject({ HOST: '127.0.0.1', PORT: 8080, DATA_FOLDER: path.join(projectFolder, '.local') })
    expect(providersOf(config, 4000)).toEqual({
      providers: {
        simulated: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:4000/v1', allowPrivateAddress: true },
      },
      providerKeys: {},
    })
  })

  test('never shows an address with its password', () => {
    expect(() => readStackConfig({ DATABASE_URL: 'mysql://root:hunter2@db/x' })).toThrow(
      /^DATABASE_URL .* is wrong: expected an address that starts with postgres:\/\/\.$/,
    )
  })

  test('an OpenAI key alone adds one model, served by OpenAI, and the key goes by reference', () => {
    const config = readStackConfig({ OPENAI_API_KEY: 'sk-x' })
    expect(realModelsOf(config)).toEqual([
      {
        provider: 'openai',
        model: 'gpt-4.1-mini',
        promptUsdPerToken: '0.0000004',
        completionUsdPerToken: '0.0000016',
      },
    ])
    const { providers, providerKeys } = providersOf(config, 4000)
    expect(providers['openai']).toEqual({
      kind: 'openai-compatible',
      baseUrl: 'https://api.openai.com/v1',
      apiKeyEnv: 'OPENAI_API_KEY',
    })
    expect(providerKeys).toEqual({ OPENAI_API_KEY: 'sk-x' })
  })

  test('a base address of one’s own needs its models named, and may be private and without a key', () => {
    const env = { OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1/' }
    expect(() => readStackConfig(env)).toThrow(/^OPENAI_MODELS .*OPENAI_BASE_URL is set, so OPENAI_MODELS must name/)
    const config = readStackConfig({ ...env, OPENAI_MODELS: 'llama3@0/0, big@12.5/1000.125' })
    expect(config.OPENAI_MODELS).toEqual([
      { model: 'llama3', promptUsdPerToken: '0', completionUsdPerToken: '0' },
      { model: 'big', promptUsdPerToken: '0.0000125', completionUsdPerToken: '0.001000125' },
    ])
    expect(providersOf(config, 4000).providers['openai']).toEqual({
      kind: 'openai-compatible',
      baseUrl: 'http://127.0.0.1:11434/v1',
      allowPrivateAddress: true,
    })
  })

  test('an Anthropic key adds one model, or those that are named, beside those of OpenAI', () => {
    const config = readStackConfig({ OPENAI_API_KEY: 'sk-x', ANTHROPIC_API_KEY: 'sk-ant-x' })
    expect(realModelsOf(config).map(({ provider, model }) => [provider, model])).toEqual([
      ['openai', 'gpt-4.1-mini'],
      ['anthropic', 'claude-haiku-4-5'],
    ])
    const { providers, providerKeys } = providersOf(config, 4000)
    expect(Object.keys(providers)).toEqual(['simulated', 'openai', 'anthropic'])
    expect(providers['anthropic']).toEqual({
      kind: 'anthropic',
      baseUrl: 'https://api.anthropic.com/v1',
      apiKeyEnv: 'ANTHROPIC_API_KEY',
    })
    expect(providerKeys).toEqual({ OPENAI_API_KEY: 'sk-x', ANTHROPIC_API_KEY: 'sk-ant-x' })
    const named = readStackConfig({ ANTHROPIC_API_KEY: 'sk-ant-x', ANTHROPIC_MODELS: 'claude-opus-5@5/25' })
    expect(realModelsOf(named).map(({ model, promptUsdPerToken }) => [model, promptUsdPerToken])).toEqual([
      ['claude-opus-5', '0.000005'],
    ])
    expect(() => readStackConfig({ ANTHROPIC_MODELS: 'claude-opus-5@5/25' })).toThrow(/^ANTHROPIC_API_KEY .*must hold/)
  })

  test('says what is wrong with a list of models', () => {
    expect(() => readStackConfig({ OPENAI_MODELS: 'llama3' })).toThrow(
      'expected model@input/output in USD per million tokens, not "llama3"',
    )
  })
})
