import stringWidth from 'string-width'
import type { Given } from './command-row.ts'
import { ApiRefusal, Unreachable } from '@gateway/api-client/failures'
import { CommandFailure, exitCodes, systemFailure } from './command-failure.ts'
import type { Io } from './io.ts'

interface Out extends Pick<Given, 'options'> {
  io: Pick<Io, 'write' | 'say' | 'isTerminal'>
}
export type Cell = string | number | null
/** A name that starts with `>` aligns its column to the right. */
type Columns<Row> = Readonly<Record<string, (row: Row) => Cell>>

/**
 * Prints records as a table, or as one line of JSON each.
 * @param isContinued whether the rows follow those of an earlier call, which printed the headings
 */
export function printRows<Row>(
  out: Out,
  rows: readonly Row[],
  columns: Columns<Row>,
  { isContinued = false } = {},
): void {
  if (out.options.json === true) return rows.forEach((row) => printJson(out, row))
  const titles = Object.keys(columns)
  const cells = rows.map((row) =>
    titles.map((title) => plain(String(columns[title]!(row) ?? '–')).replaceAll('\n', ' ')),
  )
  const shown = [titles.map((title) => title.replace('>', '').toUpperCase()), ...cells]
  const widths = titles.map((_, n) => Math.max(...shown.map((row) => stringWidth(row[n]!))))
  for (const [at, row] of shown.entries()) {
    const line = row.map((cell, n) =>
      titles[n]!.startsWith('>') ? gap(cell, widths[n]!) + cell : cell + gap(cell, widths[n]!),
    )
    const text = line.join('  ').trimEnd()
    // Headings are not data: a piped table has none.
    if (at > 0 || (out.io.isTerminal.output && !isContinued)) out.io.write(`${text}\n`)
  }
  if (rows.length === 0) out.io.say('No results.')
}

const gap = (cell: string, width: number) => ' '.repeat(width - stringWidth(cell))

/** Prints one record as names and values, or as a line of JSON. */
export function printRecord<Row>(out: Out, row: Row, fields: Columns<Row>): void {
  if (out.options.json === true) return printJson(out, row)
  const width = Math.max(...Object.keys(fields).map((name) => name.length))
  for (const [name, valueOf] of Object.entries(fields))
    out.io.write(`${name.padEnd(width)}  ${plain(String(valueOf(row) ?? '–'))}\n`)
}

export function printJson({ io }: Out, value: unknown): void {
  io.write(`${JSON.stringify(value)}\n`)
}

/**
 * Makes a text unable to move the cursor, set colors or reverse the writing direction: of text from others, only line
 * breaks and tabs reach the terminal.
 */
export function plain(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]|[\u202A-\u202E\u2066-\u2069]/gu, '\uFFFD')
}

/**
 * Prints why a command failed and its resolution; for a refusal also the request ID for support. Returns the exit code.
 */
export function printFailure(error: unknown, io: Pick<Io, 'say'>): number {
  if (error instanceof ApiRefusal) {
    const at = error.param === null ? '' : ` (${error.param})`
    io.say(`Refused, ${oneLine(`${error.code}${at}: ${error.message}`)}`)
    io.say(`Resolution: ${oneLine(error.resolution)}`)
    if (error.requestId !== null) io.say(`Request: ${error.requestId}`)
    if (error.status === 401 && error.code.startsWith('key_')) io.say('Set GATEWAY_KEY to a valid key.')
    if (error.code !== 'session_missing' && error.code !== 'token_invalid') return exitCodes.refused
    io.say('Sign in: gateway login, or set GATEWAY_TOKEN to a valid token.')
    return exitCodes.signIn
  }
  if (error instanceof Unreachable) {
    io.say(error.message + reasonOf(error))
    io.say('Resolution: Check that the address is right (GATEWAY_URL, or gateway profiles) and the service is up.')
    return exitCodes.refused
  }
  const failure = error instanceof CommandFailure ? error : (systemFailure(error) ?? unexpected(error))
  io.say(failure.message)
  io.say(`Resolution: ${failure.resolution}`)
  return failure.exitCode
}

/** Prevents text of others from looking like a line of ours. */
const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ')

/** The network's reason, such as an expired certificate. */
function reasonOf({ cause }: Error): string {
  if (!(cause instanceof Error)) return ''
  const { code, message } = cause as NodeJS.ErrnoException
  return reasonOf(cause) || ` (${oneLine(message || (code ?? cause.name))})`
}

function unexpected(error: unknown): CommandFailure {
  const [what, at] = ((error as Error).stack ?? String(error)).split(/\n\s*(?=at )/)
  return new CommandFailure(
    `Unexpected error: ${what}${at === undefined ? '' : ` (${at})`}`,
    'Check that the gateway at this address has the version of this command; if so, report these lines',
  )
}
