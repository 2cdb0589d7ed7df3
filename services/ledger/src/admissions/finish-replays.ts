import type { Deps } from '../deps.ts'
import type { Decided } from './outcome-of-row.ts'

interface AnswerRow {
  reservation: string
  content_type: string
  body: Uint8Array
}

interface ReplayFacts {
  reservation: string
  /** null: nothing was saved. */
  day: string | null
  invocation: string
}

/**
 * Answers repeats with what was saved for the first call, byte for byte (rules §5.3).
 * Many repeats of one call read its answer once.
 */
export async function finishReplays(deps: Pick<Deps, 'reads'>, decided: Decided[]): Promise<void> {
  const replays = decided.map(({ waiting, row }) => ({ waiting, facts: row.facts as unknown as ReplayFacts }))
  let saved: Awaited<ReturnType<typeof readAnswers>>
  try {
    saved = await readAnswers(
      deps,
      replays.map(({ facts }) => facts),
    )
  } catch {
    for (const { waiting } of replays) waiting.answer({ kind: 'undecided', why: 'unavailable' })
    return
  }
  for (const { waiting, facts } of replays) {
    const answer = saved.get(facts.reservation)
    if (answer) waiting.answer({ kind: 'replay', invocation: facts.invocation, ...answer })
    else waiting.answer({ kind: 'refused', code: 'answer_not_kept', facts: {} })
  }
}

async function readAnswers({ reads }: Pick<Deps, 'reads'>, replays: ReplayFacts[]) {
  const days = new Map(replays.flatMap(({ reservation, day }) => (day ? [[reservation, day]] : [])))
  const rows = await reads.sql.query<AnswerRow>(
    `SELECT a.reservation, a.content_type, a.body
       FROM unnest($1::text[], $2::text[]) w (reservation, day)
       JOIN money.answers a ON a.day = w.day::date AND a.reservation = w.reservation`,
    [[...days.keys()], [...days.values()]],
  )
  return new Map(
    rows.map(({ reservation, content_type, body }) => [
      reservation,
      { contentType: content_type, body: Buffer.from(body).toString() },
    ]),
  )
}
