import { z } from 'zod'
import { ConfigurationError, readConfig, type Environment } from './config.ts'
import { flag, httpUrl, port, wholeNumber } from './config-fields.ts'
import { logLevels } from './logger.ts'

/** What every service reads, whatever else it needs. */
export const commonConfig = z.object({
  HOST: z.string().default('127.0.0.1').meta({ description: 'Address to listen on' }),
  PORT: port().default(0).meta({ description: 'Port to listen on; 0 lets the kernel choose' }),
  METRICS_HOST: z
    .string()
    .default('127.0.0.1')
    .meta({ description: 'Address on which /metrics listens; never one that callers reach' }),
  METRICS_PORT: port().default(0).meta({ description: 'Port of /metrics; 0 lets the kernel choose' }),
  LOG_LEVEL: z.enum(logLevels).default('info').meta({ description: 'Least severity that is logged' }),
  DRAIN_MS: wholeNumber({ min: 0, max: 3_600_000 })
    .default(8_000)
    .meta({ description: 'How long a stop waits for open answers, in milliseconds' }),
  STOP_WITH_PARENT: flag()
    .default(false)
    .meta({ description: 'Stop when the process that started this one has ended' }),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl()
    .optional()
    .meta({ description: 'OpenTelemetry collector (OTLP); traces are made only with one' }),
})

export type CommonConfig = z.output<typeof commonConfig>

/** The common fields and a service's own, where a service's own definition of a field wins: for tables and checks. */
export function serviceConfig(schema: z.ZodObject): z.ZodObject {
  return z.object({ ...commonConfig.shape, ...schema.shape })
}

/** Reads both and tells every problem of both at once. The service's schema is used whole, so its refinements hold. */
export function readServiceConfig<Schema extends z.ZodObject>(
  schema: Schema,
  env: Environment,
): CommonConfig & z.output<Schema> {
  const notItsOwn = Object.entries(commonConfig.shape).filter(([name]) => !(name in schema.shape))
  const problems: string[] = []
  const values = [z.object(Object.fromEntries(notItsOwn)), schema].map((part) => {
    try {
      return readConfig(part, env)
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error
      problems.push(...error.problems)
      return {}
    }
  })
  if (problems.length > 0) throw new ConfigurationError(problems)
  return Object.assign({}, ...values) as CommonConfig & z.output<Schema>
}
