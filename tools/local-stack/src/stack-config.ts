import path from 'node:path'
import { readConfig, type Environment } from '@gateway/process/config'
import { httpUrl, port } from '@gateway/process/config-fields'
import { logLevels } from '@gateway/process/logger'
import { z } from 'zod'
import { readRealModels } from './real-models.ts'

const projectFolder = path.resolve(import.meta.dirname, '../../..')
const internalPort = (description: string) =>
  port()
    .optional()
    .meta({ description: `${description}; a free one when not set` })

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
    OPENAI_API_KEY: z
      .string()
      .optional()
      .meta({ description: 'Adds real products besides the simulated ones', secret: true }),
    OPENAI_BASE_URL: httpUrl()
      .optional()
      .meta({ description: 'Base address of an OpenAI-compatible provider, such as http://127.0.0.1:11434/v1' }),
    OPENAI_MODELS: z.string().transform(readRealModels).optional().meta({
      description:
        'Its models with their prices in USD per million tokens, such as `gpt-4.1-mini@0.40/1.60,llama3@0/0`',
    }),
    ANTHROPIC_API_KEY: z
      .string()
      .optional()
      .meta({ description: 'Adds real products of Anthropic besides the simulated ones', secret: true }),
    ANTHROPIC_MODELS: z
      .string()
      .transform(readRealModels)
      .optional()
      .meta({ description: 'Its models with their prices in USD per million tokens, such as `claude-haiku-4-5@1/5`' }),
  })
  .refine((config) => !config.ANTHROPIC_MODELS || config.ANTHROPIC_API_KEY !== undefined, {
    path: ['ANTHROPIC_API_KEY'],
    error: 'ANTHROPIC_MODELS is set, so ANTHROPIC_API_KEY must hold the key for them.',
  })
  .refine((config) => !config.OPENAI_BASE_URL || config.OPENAI_MODELS !== undefined, {
    path: ['OPENAI_MODELS'],
    error: 'OPENAI_BASE_URL is set, so OPENAI_MODELS must name the models there.',
  })

export type StackConfig = z.output<typeof stackConfig>

/** Throws a `ConfigurationError` with every problem at once. */
export function readStackConfig(env: Environment): StackConfig {
  return readConfig(stackConfig, env)
}
