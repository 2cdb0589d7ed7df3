import type { RefusalBody, RefusalCode } from '@gateway/api/refusal'
import { linesOf } from './answers.ts'
import { ApiRefusal, readRefusal, Unreachable } from './failures.ts'
import { wait } from './request.ts'

// The progress of an execution over lost connections.
//   F1  Each line is handed on once, in order: what comes again is left out, and behind a gap the lines are asked for again.
//   F2  Until its id is known the execution is begun again under the same key, which begins it once.
//   F3  It continues for as long as the service answers, and for two minutes in which it does not. What the caller has to clear ends it,
//       and so does what would have to wait for longer. A line that is missing is asked for as long.

/** A line by its number, and the end of an answer whose reader gets no further one. */
export type NumberedLine =
  | { kind: 'admitted'; seq: number; executionId: string }
  | { kind: 'node'; seq: number }
  | { kind: 'complete'; seq: number }
export interface LastLine {
  kind: 'refused'
  error: RefusalBody
}

export interface Following {
  /** Begins it, or answers what has begun under the same key, from its first line on. null: it has begun as `execution`. */
  begin: ((fields: Fields) => Promise<Response>) | null
  /** Its lines behind that one. */
  goOn: (execution: string, after: number, fields: Fields) => Promise<Response>
  /** Where it has begun: its id. */
  execution?: string | null
  /** The last line that is there. */
  after?: number
  signal?: AbortSignal | undefined
  /** Called each time a connection was lost, before another one is tried. */
  onLost?: () => void
}
interface Fields {
  headers: { accept: string }
  signal: AbortSignal | undefined
}

const PATIENCE_MS = 120_000
const FIRST_WAIT_MS = 200
const LONGEST_WAIT_MS = 5_000

/** What a reader of a line `refused` gets past by asking again. */
const passing: ReadonlySet<RefusalCode> = new Set([
  'idempotency_in_progress',
  'overloaded',
  'unavailable',
  'internal_error',
])

/**
 * @throws ApiRefusal; Unreachable where the service is not reached for two minutes, or leaves out a line; the reason of the signal
 */
export async function* followLines<Line extends NumberedLine>({
  begin,
  goOn,
  execution = null,
  after = -1,
  signal,
  onLost,
}: Following): AsyncGenerator<Line, void, undefined> {
  const fields = { headers: { accept: 'application/x-ndjson' }, signal }
  let failingSince: number | null = null
  let missingSince: number | null = null
  for (let failures = 0; ; failures++) {
    let afterMs = 0
    try {
      const answer = execution === null ? await begin!(fields) : await goOn(execution, after, fields)
      failingSince = null
      for await (const line of linesOf(answer, signal) as AsyncIterable<Line | LastLine>) {
        if (line?.kind === 'refused') throw refusalOf(line, answer)
        if (!Number.isInteger(line?.seq)) throw new Unreachable('A line of the answer is none of the API.', { answer })
        if (line.kind === 'admitted') execution = line.executionId
        if (line.seq <= after) continue // F1
        if (line.seq > after + 1) {
          missingSince ??= Date.now()
          if (Date.now() - missingSince <= PATIENCE_MS) break // F1
          throw new Unreachable(`Line ${after + 1} of the progress is missing.`, { answer }) // F3
        }
        missingSince = null
        failures = 0
        after = line.seq
        yield line
        if (line.kind === 'complete') return
      }
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
  return new ApiRefusal({ status: passing.has(body.code) ? 503 : 403, headers: answer.headers }, body)
}

function isPassing(error: unknown): error is ApiRefusal | Unreachable {
  return (error instanceof ApiRefusal || error instanceof Unreachable) && error.again.worth
}

/** At once where lines came; then longer each time, and not all at the same moment. */
function pauseMs(failures: number): number {
  return failures === 0 ? 0 : Math.min(FIRST_WAIT_MS * 2 ** failures, LONGEST_WAIT_MS) * (1 - Math.random() / 2)
}
