import { setTimeout as pause } from 'node:timers/promises'
import { callFunction } from '@gateway/database/call-function'
import type { Database } from '@gateway/database/client'
import { lockedOut } from '../admissions/classify-error.ts'
import type { Month } from './month.ts'
import { NotArchivable } from './not-archivable.ts'

// Takes what is archived out of the tables, in steps of which none waits for a lock longer than 100 ms (money.drop_archived).

/** Somebody reads these tables for long; the files are safe, and the next archive goes on here. */
const TRIES = 120
const PAUSE_MS = 500

type Table = 'journal' | 'journal_blocks' | 'attempts'

/** Answers what was done. @throws NotArchivable where a lock was not to be had for a minute */
export async function dropMonth(
  { sql }: Pick<Database, 'sql'>,
  { month, attempts }: { month: Month; attempts: readonly Month[] },
): Promise<string[]> {
  const parts: [Table, Month][] = [
    ['journal', month],
    ['journal_blocks', month],
    ...attempts.map((of): [Table, Month] => ['attempts', of]),
  ]
  const done: string[] = []
  for (const [table, of] of parts) {
    for (let step = await dropStep(sql, table, of); step !== null; step = await dropStep(sql, table, of))
      done.push(step)
  }
  return done
}

async function dropStep(sql: Database['sql'], table: Table, month: Month): Promise<string | null> {
  for (let n = 1; n <= TRIES; n++) {
    try {
      const { done } = await callFunction(sql, 'money.drop_archived', { of_table: table, of_month: month })
      return done
    } catch (error) {
      if (!lockedOut(error)) throw error
      await pause(PAUSE_MS)
    }
  }
  throw new NotArchivable(
    `money.${table} is kept locked, so ${month} could not be dropped; it is archived, and the next run drops it. A long transaction reads the table: docs/operating.md, "TransactionTooOld".`,
  )
}
