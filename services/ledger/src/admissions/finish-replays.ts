import type { Database } from '@gateway/database/client'
import type { Decided } from './outcome-of-row.ts'

interface AnswerRow {
  reservation: string
  content_type: string
  body: Uint8Array
}

/**
 * Answers repeats with what was saved for the first call, byte for byte (decisions.md, 4).
 * Many repeats of one call read its answer once.
 */
export function replayFinisher({ prisma }: Pick<Database, 'prisma'>) {
  return async (decided: Decided[]): Promise<void> => {
    const wanted = new Map<string, string>()
    for (const { row } of decided) {
      const { reservation, day } = factsOf(row)
      if (day) wanted.set(reservation, day)
    }
    const saved = new Map<string, { contentType: string; body: string }>()
    try {
      const rows = await prisma.$queryRawUnsafe<AnswerRow[]>(
        `SELECT a.reservation, a.content_type, a.body
           FROM unnest($1::text[], $2::text[]) w (reservation, day)
           JOIN money.answers a ON a.day = w.day::date AND a.reservation = w.reservation`,
        [...wanted.keys()],
        [...wanted.values()],
      )
      for (const row of rows)
        saved.set(row.reservation, { contentType: row.content_type, body: Buffer.from(row.body).toString() })
    } catch {
      for (const { waiting } of decided) waiting.answer({ kind: 'undecided', why: 'unavailable' })
      return
    }
    for (const { waiting, row } of decided) {
      const { reservation, invocation } = factsOf(row)
      const answer = saved.get(reservation)
      if (answer) waiting.answer({ kind: 'replay', invocation, ...answer })
      else waiting.answer({ kind: 'refused', code: 'answer_not_kept', facts: {} })
    }
  }
}

function factsOf(row: Decided['row']): { reservation: string; day: string | null; invocation: string } {
  return row[2] as unknown as { reservation: string; day: string | null; invocation: string }
}
