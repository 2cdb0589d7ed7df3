import type { CompleteItem } from '@gateway/contracts/flow-items'
import { callFunction } from '@gateway/database/call-function'
import type { Sql } from '@gateway/database/client'
import type { Deps } from '../../deps.ts'

/** A completion under a lease that is another's now, of a call that was made: it cost something, and nobody is charged. */
type Served = CompleteItem & { reservation: string; usage: NonNullable<CompleteItem['usage']> }

/** Writes off what the calls of fenced completions have used (money §4.3). Completions that are repeated add nothing. */
export async function writeOffFenced(
  { metrics }: Pick<Deps, 'metrics'>,
  sql: Sql,
  completions: readonly CompleteItem[],
): Promise<void> {
  const served = completions.filter(isServed)
  if (served.length === 0) return
  const { written } = await callFunction(sql, 'money.write_off_fenced', {
    answers: served.map(({ reservation, execution, usage }) => ({ id: reservation, execution, usage })),
  })
  for (let n = 0; n < written; n++) metrics.fenced()
}

function isServed(item: CompleteItem): item is Served {
  return item.usage !== null && typeof item.reservation === 'string'
}
