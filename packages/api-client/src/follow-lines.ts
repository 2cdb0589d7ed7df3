import type { RefusalBody, RefusalCode } from '@gateway/api/refusal'
import { linesOf } from './answers.ts'
import { ApiRefusal, readRefusal, Unreachable } from './failures.ts'
import { wait } from './request.ts'

// Follows the progress of an execution across lost connections.
//   F1  Each line is yielded once, in order: repeated lines are skipped, and after a gap the missing lines are
//       requested again.
//   F2  Until its id is known, the execution is started again under the same key, which starts it only once.
//   F3  Following continues while new lines or keep-alives arrive, and for two minutes while none does: the service may
//       not respond, leave out a line or always be cut off. It ends at anything that the caller has to clear, or that
//       would take longer to wait for.
//   F4  Nothing follows the last line, and an empty answer may also come from a stopping replica. So a caller who names
//       a line gets that line requested again: it may be the last one.

/** A line with its number, or the end of a stream whose reader gets no further lines. */
export type NumberedLine =
  | { kind: 'admitted'; seq: number; executionId: string }
  | { kind: 'node'; seq: number }
  | { kind: 'complete'; seq: number }
export interface LastLine {
  kind: 'refused'
  error: RefusalBody
}

export interface Following {
  /**
   * Starts the execution, or returns the one already started under the same key, from its first line. Null if it is
   * `execution`.
   */
  begin: ((fields: Fields) => Promise<Response>) | null
  /** Requests the lines after this one. */
  goOn: (execution: string, after: number, fields: Fields) => Promise<Response>
  /** The id of an execution that has already started. */
  execution?: string | null
  /** The last line already received. */
  after?: number
  signal?: AbortSignal | undefined
  /** Called each time a connection is lost, before a reconnect. */
  onLost?: () => void
}
interface Fields {
  headers: { accept: string }
  /** Retries are those of F3. */
  isRepeatable: false
  signal: AbortSignal | undefined
}

const PATIENCE_MS = 120_000
const FIRST_WAIT_MS = 200
const LONGEST_WAIT_MS = 5_000

/** Codes of a `refused` line that a new request may get past. */
const passing: ReadonlySet<RefusalCode> = new Set([
  'idempotency_in_progress',
  'overloaded',
  'unavailable',
  'internal_error',
])

/** A line has no status; these are the usual ones. A type that is missing has 400. */
const statusOfType: Partial<Record<RefusalBody['type'], number>> = {
  authentication_error: 401,
  insufficient_funds_error: 402,
  permission_error: 403,
  not_found_error: 404,
  conflict_error: 409,
  rate_limit_error: 429,
  api_error: 503,
}

/** @throws ApiRefusal; Unreachable if no new line or keep-alive arrives for two minutes; the signal's reason */
export async function* followLines<Line extends NumberedLine>({
  begin,
  goOn,
  execution = null,
  after = -1,
  signal,
  onLost,
}: Following): AsyncGenerator<Line, void, undefined> {
  const fields: Fields = { headers: { accept: 'application/x-ndjson' }, isRepeatable: false, signal }
  let from = Math.max(after - 1, -1) // F4
  let failingSince: number | null = null
  const onKeepAlive = () => void (failingSince = null)
  for (let failures = 0; ; failures++) {
    let afterMs: number
    failingSince ??= Date.now()
    try {
      const answer = execution === null ? await begin!(fields) : await goOn(execution, from, fields)
      for await (const line of linesOf(answer, signal, { onKeepAlive }) as AsyncIterable<Line | LastLine>) {
        if (line?.kind === 'refused') throw refusalOf(line, answer)
        if (!Number.isInteger(line?.seq)) throw new Unreachable('A line of the answer is none of the API.', { answer })
        if (line.kind === 'admitted') execution = line.executionId
        if (line.seq > after + 1) throw new Unreachable(`Line ${after + 1} of the progress is missing.`) // F1
        // F1
        if (line.seq > after) {
          failingSince = null
          failures = 0
          from = after = line.seq
          yield line
        }
        if (line.kind === 'complete') return
      }
      throw new Unreachable('The progress ends before its last line.')
    } catch (error) {
      failingSince ??= Date.now()
      afterMs = isPassing(error) ? (error.again.afterMs ?? 0) : Infinity
      if (Date.now() + afterMs - failingSince > PATIENCE_MS) throw error // F3
    }
    onLost?.()
    await wait(Math.max(pauseMs(failures), afterMs), signal)
  }
}

function refusalOf({ error }: LastLine, answer: Response): ApiRefusal | Unreachable {
  const body = readRefusal(error)
  if (!body) return new Unreachable('A line of the answer is none of the API.', { answer })
  const again = { worth: passing.has(body.code), afterMs: null }
  return new ApiRefusal({ status: statusOfType[body.type] ?? 400, headers: answer.headers }, body, again)
}

function isPassing(error: unknown): error is ApiRefusal | Unreachable {
  return (error instanceof ApiRefusal || error instanceof Unreachable) && error.again.worth
}

/** No delay after lines have arrived; then increasing, with jitter. */
function pauseMs(failures: number): number {
  return failures === 0 ? 0 : Math.min(FIRST_WAIT_MS * 2 ** failures, LONGEST_WAIT_MS) * (1 - Math.random() / 2)
}
