import { trace } from '@opentelemetry/api'
import { type DestinationStream, type Level, type Logger, pino, stdTimeFunctions } from 'pino'
import { writeSync } from 'node:fs'

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

// Runs over each finished log line, so that nothing logged by accident slips through at any depth:
//   R1  text under a key that names a credential;
//   R2  our own secrets (svc_…, svu_…, svt_…), those of webhooks and well-known providers, and bearer tokens anywhere;
//   R3  passwords inside addresses.
// A field's name has a maximum length: without one, a long text of such words takes quadratic time.
const credentialField =
  /"([^"\\]{0,64}(?:authorization|cookie|secret|password|passwd|token|api_?-?key|credential)[^"\\]{0,64})":"(?:[^"\\]|\\.)*"/gi
const ownSecret = /\b(sv[cut]_[0-9A-Za-z]{8})[0-9A-Za-z]{4,}/g
const otherSecret = /\b(sk-|whsec_|AIza|AKIA)[\w+/=-]{12,}/g
const bearer = /\b(bearer) +[\w.~+/=-]{8,}/gi
const addressPassword = /(:\/\/[^\s:@/"]*):[^\s@/"]+@/g

/** Redacts everything in a JSON line that could be a credential. The line stays valid JSON. */
export function redactLine(line: string): string {
  return line
    .replace(credentialField, '"$1":"[redacted]"') // R1
    .replace(ownSecret, '$1…') // R2
    .replace(otherSecret, '$1…')
    .replace(bearer, '$1 [redacted]')
    .replace(addressPassword, '$1:[redacted]@') // R3
}
