import { trace } from '@opentelemetry/api'
import { type DestinationStream, type Level, type Logger, pino, stdTimeFunctions } from 'pino'
import { writeSync } from 'node:fs'
import { redactLine } from '../text/redact.ts'

export type { Logger } from 'pino'

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const satisfies readonly Level[]
export type LogLevel = (typeof logLevels)[number]

interface LoggerOptions {
  service: string
  level: LogLevel
  /** Standard output, except in tests that capture the lines. */
  to?: DestinationStream
}

/**
 * Logs JSON lines with the service's name, the time in UTC and, inside a traced call, the trace's ids. Redacts
 * credentials.
 */
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

/**
 * Writes lines to a file descriptor: those of one turn of the event loop in one write, and the rest when the process
 * ends, so that a busy service pays little per line and a dying one loses none.
 */
export function lineWriter(descriptor: number): { write(line: string): void } {
  let waiting = ''

  function flush(): void {
    const lines = waiting
    waiting = ''
    if (lines !== '') writeAll(descriptor, Buffer.from(lines))
  }
  process.on('exit', flush)

  return {
    write(line) {
      if (waiting === '') setImmediate(flush)
      waiting += line
    },
  }
}

/** Waits for a slow reader of a pipe, as a blocking write would; if the reader has closed it, only the writing ends. */
function writeAll(descriptor: number, bytes: Buffer): void {
  let rest = bytes
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
  }
}
