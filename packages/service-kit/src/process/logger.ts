import { trace } from '@opentelemetry/api'
import { pino, stdTimeFunctions, type DestinationStream, type Level, type Logger } from 'pino'
import { lineWriter } from './line-writer.ts'
import { redactLine } from './redact.ts'

export type { Logger } from 'pino'

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const satisfies readonly Level[]
export type LogLevel = (typeof logLevels)[number]

interface LoggerOptions {
  service: string
  level: LogLevel
  /** Standard output unless a test wants the lines. */
  to?: DestinationStream
}

/** JSON lines with the service's name, the time in UTC and, inside a traced call, the trace's ids. Credentials never get through. */
export function createLogger({ service, level, to = lineWriter(1) }: LoggerOptions): Logger {
  return pino(
    {
      level,
      base: { service },
      messageKey: 'message',
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      mixin: traceIds,
      hooks: { streamWrite: redactLine },
    },
    to,
  )
}

function traceIds(): object {
  const context = trace.getActiveSpan()?.spanContext()
  return context ? { traceId: context.traceId, spanId: context.spanId } : {}
}
