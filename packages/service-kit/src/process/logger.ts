import { trace } from '@opentelemetry/api'
import { type DestinationStream, type Level, type Logger, pino, stdTimeFunctions } from 'pino'
import { writeSync } from 'node:fs'

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

/**
 * Writes lines to a file descriptor: those of one turn of the event loop in one write, and what is left when the process
 * ends, so that a busy service pays little per line and the last words of a dying one aren't lost.
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

/** A pipe whose reader is slow is waited for, as any blocking pipe would be; a reader that has left ends the writing only. */
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

// Runs over each finished log line, so nothing that is logged by accident at any depth slips through:
//   R1  text under a key that names a credential;
//   R2  our own secrets (svc_…, svu_…, svt_…) and bearer tokens wherever they stand;
//   R3  passwords inside addresses.
const credentialField =
  /"([^"\\]*(?:authorization|cookie|secret|password|passwd|token|api_?-?key|credential)[^"\\]*)":"(?:[^"\\]|\\.)*"/gi
const ownSecret = /\b(sv[cut]_[0-9A-Za-z]{8})[0-9A-Za-z]{4,}/g
const bearer = /\b(bearer) +[\w.~+/=-]{8,}/gi
const addressPassword = /(:\/\/[^\s:@/"]*):[^\s@/"]+@/g

/** One line of JSON with everything that could be a credential taken out. Stays valid JSON. */
export function redactLine(line: string): string {
  return line
    .replace(credentialField, '"$1":"[redacted]"') // R1
    .replace(ownSecret, '$1…') // R2
    .replace(bearer, '$1 [redacted]')
    .replace(addressPassword, '$1:[redacted]@') // R3
}
