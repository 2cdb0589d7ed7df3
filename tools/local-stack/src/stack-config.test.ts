import { ConfigurationError } from '@gateway/service-kit/process/config'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { realModelsOf } from './models-asked-for.ts'
import { readStackConfig } from './stack-config.ts'
import { providersOf } from './stack-providers.ts'

const projectFolder = path.resolve(import.meta.dirname, '../../..')

const azure = { AZURE_OPENAI_ENDPOINT: 'https://mine.openai.azure.com', AZURE_OPENAI_API_KEY: 'a' }

describe('the configuration of npm start', () => {
  test('needs no variables', () => {
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

  // spec: can/real-providers
  test('adds one OpenAI model for an OpenAI key alone, and passes the key by reference', () => {
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

  test.each([
    [{ OPENAI_MODELS: 'llama3@0/0' }, /^OPENAI_API_KEY .*OPENAI_MODELS is set, so OPENAI_API_KEY must hold the key/],
    [
      { OPENAI_API_KEY: 'sk-x', OPENAI_MODELS: 'gpt-4o@0.0000001/10' },
      /^OPENAI_MODELS .* with at most 6 places, not "gpt-4o@0.0000001\/10"/,
    ],
    [
      { MODEL_LIMITS: '{"llama3":{"contextLength":4096,"maxOutputTokens":8192}}' },
      /^MODEL_LIMITS .*llama3.maxOutputTokens: must be at most its contextLength/,
    ],
    [
      { MODEL_LIMITS: '{"llama3":{"contextLength":8192,"maxOutputTokens":8192}}' },
      /^MODEL_LIMITS .*llama3.maxOutputTokens: must leave room for a prompt.* Lower it, or raise contextLength/,
    ],
    [{ MODEL_LIMITS: '{"llama3":{"contextLength":1}}' }, /^MODEL_LIMITS .*llama3.maxOutputTokens: must leave room/],
  ])('reports the problem in %j', (env, says) => {
    expect(() => readStackConfig(env)).toThrow(says)
  })

  test('requires model names for a custom base address, which may be private and without a key', () => {
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

  // spec: can/real-providers
  test('adds one Anthropic model for its key, or the models named, next to those of OpenAI', () => {
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

  test('sets the field of the output cap for a provider that differs', () => {
    const env = { OPENAI_BASE_URL: 'http://127.0.0.1:8000/v1', OPENAI_MODELS: 'qwen3@0/0' }
    const { providers } = providersOf(readStackConfig({ ...env, OPENAI_CAP_FIELD: 'max_completion_tokens' }), 4000)
    expect(providers['openai']).toMatchObject({ capField: 'max_completion_tokens' })
    expect(() => readStackConfig({ ...env, OPENAI_CAP_FIELD: 'cap' })).toThrow(/^OPENAI_CAP_FIELD /)
  })

  test('sets limits for unknown models and overrides those of known ones', () => {
    const limits = { llama3: { contextLength: 8192 }, 'gpt-4.1-mini': { maxTokensPerImage: null } }
    const env = { OPENAI_API_KEY: 'sk-x', OPENAI_MODELS: 'llama3@0/0,gpt-4.1-mini@0.4/1.6,o3@2/8' }
    const config = readStackConfig({ ...env, MODEL_LIMITS: JSON.stringify(limits) })
    expect(realModelsOf(config).map((model) => model.limits)).toEqual([
      { contextLength: 8192 },
      { maxTokensPerImage: null },
      undefined,
    ])
    const wrong = (text: string) => () => readStackConfig({ MODEL_LIMITS: text })
    expect(wrong('{"llama3":{"contextLength":0}}')).toThrow(/^MODEL_LIMITS .*llama3.contextLength/)
    expect(wrong('{"llama3":{"size":7}}')).toThrow(/^MODEL_LIMITS .*expected JSON such as/)
    expect(wrong('llama3=8192')).toThrow(/^MODEL_LIMITS .*expected JSON such as/)
  })

  test('adds Gemini, Azure and Bedrock by their variables', () => {
    const env = {
      GEMINI_API_KEY: 'g',
      AZURE_OPENAI_ENDPOINT: 'https://mine.openai.azure.com',
      AZURE_OPENAI_API_KEY: 'a',
      AZURE_OPENAI_MODELS: 'my-gpt@2/8',
      BEDROCK_REGION: 'eu-west-1',
      BEDROCK_MODELS: 'eu.amazon.nova-lite-v1:0@0.06/0.24',
      AWS_ACCESS_KEY_ID: 'id',
      AWS_SECRET_ACCESS_KEY: 'secret',
    }
    const config = readStackConfig(env)
    expect(realModelsOf(config).map(({ provider, model }) => [provider, model])).toEqual([
      ['google', 'gemini-2.5-flash'],
      ['azure', 'my-gpt'],
      ['bedrock', 'eu.amazon.nova-lite-v1:0'],
    ])
    const { providers, providerKeys } = providersOf(config, 4000, env)
    expect(providers).toMatchObject({
      google: { kind: 'gemini', apiKeyEnv: 'GEMINI_API_KEY' },
      azure: { kind: 'azure-openai', baseUrl: 'https://mine.openai.azure.com/openai/v1' },
      bedrock: { kind: 'bedrock', region: 'eu-west-1', baseUrl: 'https://bedrock-runtime.eu-west-1.amazonaws.com' },
    })
    expect(providerKeys).toEqual({
      GEMINI_API_KEY: 'g',
      AZURE_OPENAI_API_KEY: 'a',
      AWS_ACCESS_KEY_ID: 'id',
      AWS_SECRET_ACCESS_KEY: 'secret',
    })
    const own = { ...env, AWS_BEARER_TOKEN_BEDROCK: 'b' }
    expect(providersOf(config, 4000, own).providers['bedrock']).toMatchObject({ apiKeyEnv: 'AWS_BEARER_TOKEN_BEDROCK' })
    expect(providersOf(config, 4000, own).providerKeys).not.toHaveProperty('AWS_ACCESS_KEY_ID')
  })

  test('requests variables that depend on each other in one sentence', () => {
    const read = (env: object) => () => readStackConfig(env as never)
    expect(read({ AZURE_OPENAI_API_KEY: 'a' })).toThrow(/^AZURE_OPENAI_MODELS .*all three or none/)
    expect(read({ BEDROCK_REGION: 'eu-west-1' })).toThrow(/^BEDROCK_MODELS .*both or none/)
    expect(read({ BEDROCK_REGION: 'mars', BEDROCK_MODELS: 'a@1/1' })).toThrow(/^BEDROCK_REGION .*such as us-east-1/)
    expect(read({ GEMINI_MODELS: 'gemini-3-pro-preview@2/12' })).toThrow(/^GEMINI_API_KEY .*must hold/)
  })

  test.each([
    [
      { OPENAI_API_KEY: 'sk-x', OPENAI_MODELS: 'a@0/0,b@1/1,a@5/5' },
      'OPENAI_MODELS names the product a twice: keep one of them.',
    ],
    [
      { OPENAI_API_KEY: 'sk-x', OPENAI_MODELS: 'a+b@0/0', ANTHROPIC_API_KEY: 'k', ANTHROPIC_MODELS: 'a-b@1/1' },
      'OPENAI_MODELS and ANTHROPIC_MODELS both name the product a-b: keep it in one of them.',
    ],
    [
      { OPENAI_API_KEY: 'sk-x', ...azure, AZURE_OPENAI_MODELS: 'gpt-4.1-mini@2/8' },
      'OPENAI_MODELS (gpt-4.1-mini when not set) and AZURE_OPENAI_MODELS both name the product gpt-4.1-mini: keep it in one of them.',
    ],
  ])('refuses one product of two prices or providers in %j', (env, says) => {
    expect(() => readStackConfig(env)).toThrow(new ConfigurationError([says]))
  })

  test('reports what is wrong with a list of models', () => {
    expect(() => readStackConfig({ OPENAI_MODELS: 'llama3' })).toThrow(
      'expected model@input/output in USD per million tokens, with at most 6 places, not "llama3"',
    )
  })
})
