import { productIdOf, type RealProvider } from '@gateway/prisma/seeded'
import path from 'node:path'
import { ConfigurationError, type Environment, httpUrl, port, readConfig } from '@gateway/service-kit/process/config'
import { logLevels } from '@gateway/service-kit/process/logger'
import { z } from 'zod'
import { readModelLimits } from './model-limits.ts'
import { realModelsOf } from './models-asked-for.ts'
import { readRealModels } from './real-models.ts'

const projectFolder = path.resolve(import.meta.dirname, '../../..')
const internalPort = (description: string) =>
  port()
    .optional()
    .meta({ description: `${description}; a free one when not set` })

const key = (description: string) => z.string().optional().meta({ description, secret: true })
const models = (what: string, example: string) =>
  z
    .string()
    .transform(readRealModels)
    .optional()
    .meta({ description: `${what} with their prices in USD per million tokens, such as \`${example}\`` })

const stackConfig = z
  .object({
    HOST: z.string().default('127.0.0.1').meta({ description: 'Address on which the gateway listens' }),
    PORT: port().default(8080).meta({ description: 'Port of the gateway' }),
    CONSOLE_PORT: internalPort('Port of the console'),
    LEDGER_PORT: internalPort('Port of the ledger'),
    WORKER_PORT: internalPort("Port of the worker's health"),
    PROVIDER_PORT: internalPort('Port of the simulated provider'),
    POSTGRES_PORT: internalPort('Port of the embedded Postgres'),
    REDIS_PORT: internalPort('Port of the embedded Redis'),
    DATA_FOLDER: z
      .string()
      .default('.local')
      .transform((folder) => path.resolve(projectFolder, folder))
      .meta({ description: 'Where data, logs and generated secrets are kept' }),
    DATABASE_URL: z
      .url({ protocol: /^postgres(ql)?$/, error: 'expected an address that starts with postgres://' })
      .optional()
      .meta({
        description: 'A Postgres to use instead of the embedded one, by a login that may create roles',
        secret: true,
      }),
    REDIS_URL: z
      .url({ protocol: /^rediss?$/, error: 'expected an address that starts with redis://' })
      .optional()
      .meta({ description: 'A Redis to use instead of the embedded one', secret: true }),
    LOG_LEVEL: z.enum(logLevels).default('info').meta({ description: 'Least severity in the log files' }),
    OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl().optional().meta({ description: 'OpenTelemetry collector for all services' }),
    OPENAI_API_KEY: key('Adds real products in addition to the simulated ones'),
    OPENAI_BASE_URL: httpUrl()
      .optional()
      .meta({ description: 'Base address of an OpenAI-compatible provider, such as http://127.0.0.1:11434/v1' }),
    OPENAI_MODELS: models('Its models', 'gpt-4.1-mini@0.40/1.60,llama3@0/0'),
    OPENAI_CAP_FIELD: z.enum(['max_tokens', 'max_completion_tokens']).optional().meta({
      description:
        'The field in which it takes the output cap; max_completion_tokens at api.openai.com, else max_tokens',
    }),
    ANTHROPIC_API_KEY: key('Adds real products of Anthropic in addition to the simulated ones'),
    ANTHROPIC_MODELS: models('Its models', 'claude-haiku-4-5@1/5'),
    GEMINI_API_KEY: key('Adds real products of Google Gemini in addition to the simulated ones'),
    GEMINI_MODELS: models('Its models', 'gemini-2.5-flash@0.30/2.50'),
    AZURE_OPENAI_ENDPOINT: httpUrl()
      .optional()
      .meta({ description: 'Address of an Azure OpenAI resource, such as https://mine.openai.azure.com' }),
    AZURE_OPENAI_API_KEY: key('The key of that resource'),
    AZURE_OPENAI_MODELS: models('Its deployments', 'my-gpt-4.1@2/8'),
    BEDROCK_REGION: z
      .string()
      .regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'expected a region such as us-east-1')
      .optional()
      .meta({
        description: 'Region of Amazon Bedrock. Credentials: AWS_BEARER_TOKEN_BEDROCK or the usual AWS_ variables',
      }),
    BEDROCK_MODELS: models('Its models', 'us.amazon.nova-lite-v1:0@0.06/0.24'),
    MODEL_LIMITS: z.string().transform(readModelLimits).optional().meta({
      description:
        'Limits of models as JSON, where they are other than known or no one knows them, such as `{"llama3":{"contextLength":8192,"maxOutputTokens":2048}}`',
    }),
  })
  .refine((config) => !config.ANTHROPIC_MODELS || config.ANTHROPIC_API_KEY !== undefined, {
    path: ['ANTHROPIC_API_KEY'],
    error: 'ANTHROPIC_MODELS is set, so ANTHROPIC_API_KEY must hold the key for them.',
  })
  .refine((config) => !config.GEMINI_MODELS || config.GEMINI_API_KEY !== undefined, {
    path: ['GEMINI_API_KEY'],
    error: 'GEMINI_MODELS is set, so GEMINI_API_KEY must hold the key for them.',
  })
  .refine((config) => !config.OPENAI_MODELS || config.OPENAI_API_KEY !== undefined || config.OPENAI_BASE_URL, {
    path: ['OPENAI_API_KEY'],
    error: 'OPENAI_MODELS is set, so OPENAI_API_KEY must hold the key for them, or OPENAI_BASE_URL say where they are.',
  })
  .refine((config) => !config.OPENAI_BASE_URL || config.OPENAI_MODELS !== undefined, {
    path: ['OPENAI_MODELS'],
    error: 'OPENAI_BASE_URL is set, so OPENAI_MODELS must name the models there.',
  })
  .refine(
    ({ AZURE_OPENAI_ENDPOINT: endpoint, AZURE_OPENAI_API_KEY: key, AZURE_OPENAI_MODELS: named }) =>
      [endpoint, key, named].every((each) => each === undefined) ||
      [endpoint, key, named].every((each) => each !== undefined),
    {
      path: ['AZURE_OPENAI_MODELS'],
      error: 'Azure needs AZURE_OPENAI_ENDPOINT, AZURE_OPENAI_API_KEY and AZURE_OPENAI_MODELS, all three or none.',
    },
  )
  .refine((config) => (config.BEDROCK_MODELS === undefined) === (config.BEDROCK_REGION === undefined), {
    path: ['BEDROCK_MODELS'],
    error: 'Bedrock needs BEDROCK_REGION and BEDROCK_MODELS, both or none.',
  })

export type StackConfig = z.output<typeof stackConfig>

/** Throws a `ConfigurationError` with every problem at once. */
export function readStackConfig(env: Environment): StackConfig {
  const config = readConfig(stackConfig, env)
  const problems = namedTwice(config)
  if (problems.length > 0) throw new ConfigurationError(problems)
  return config
}

const variables = {
  openai: 'OPENAI_MODELS',
  anthropic: 'ANTHROPIC_MODELS',
  google: 'GEMINI_MODELS',
  azure: 'AZURE_OPENAI_MODELS',
  bedrock: 'BEDROCK_MODELS',
} as const satisfies Record<RealProvider, keyof StackConfig>

/** A product has one price, and its seed one provider: a sentence for each product that is named more than once. */
function namedTwice(config: StackConfig): string[] {
  const named = Map.groupBy(realModelsOf(config), ({ model }) => productIdOf(model))
  return [...named].flatMap(([id, [first, second]]) => {
    if (!first || !second) return []
    if (first.provider === second.provider)
      return `${variables[first.provider]} names the product ${id} twice: keep one of them.`
    const [one, other] = [first, second].map(({ provider, model }) => {
      const variable = variables[provider]
      return config[variable] === undefined ? `${variable} (${model} when not set)` : variable
    })
    return `${one} and ${other} both name the product ${id}: keep it in one of them.`
  })
}
