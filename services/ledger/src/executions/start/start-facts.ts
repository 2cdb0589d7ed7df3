import type { StartQuestion } from '@gateway/contracts/flow-reads'
import { callFunction } from '@gateway/database/call-function'
import type { Database } from '@gateway/database/client'
import type { Reset } from '@gateway/money/spending-window'
import type { KeyRefusalCode } from '../../keys/read-caller.ts'

/**
 * All that decides whether an execution may start, as money.read_starts reads it at one moment. Money in micro-USD.
 */
export interface StartFacts {
  /** Of the key or of the person; null: of a key that is not known or not bound. */
  project: string | null
  /** Of the key as such; null: it is valid, or a person asks. */
  refusal: KeyRefusalCode | null
  key: string | null
  lineage: string | null
  rotatedTo: string | null
  expiredAt: string | null
  limit: { micro: number; reset: Reset; windowStart: string; spent: number; reserved: number } | null
  /** null: the project has none of this id. */
  sandbox: { suspended: boolean; active: number | null } | null
  /** The one that is named, or the active one. */
  revision: {
    number: number
    /** Of the package that it would run now; null: its graph has problems, and it has none. */
    digest: string | null
    paidNodes: number
    chatInput: string | null
    chatOutput: string | null
  } | null
  /** The first of what a listed key must list and doesn't. */
  unlisted: string | null
  /** The first product of the manifest that the project can't call. */
  unassigned: string | null
  /** The execution that was begun with this very id. */
  asked: { execution: string; project: string; sandbox: string; revision: number; textField: string | null } | null
  /** What was begun under this idempotency key. `revision` null: it is forgotten. */
  earlier: { execution: string; fingerprint: string; revision: number | null; textField: string | null } | null
  reserved: number
  available: number
  /** Executions of the project that have not ended; counted up to the cap. */
  open: number
}

/** Reads what decides about each question, in their order. */
export async function readStarts(
  { sql }: Pick<Database, 'sql'>,
  questions: readonly StartQuestion[],
  openExecutions: number,
): Promise<StartFacts[]> {
  const row = await callFunction(sql, 'money.read_starts', {
    questions: questions.map(({ id, caller, sandbox, revision, idempotency }, n) => ({
      id,
      sandbox,
      revision,
      ...('keyHash' in caller ? { keyHash: caller.keyHash } : { project: caller.project }),
      scope: scopeOf(questions[n]!),
      idempotencyKey: idempotency?.key,
    })),
    max_open: openExecutions,
  })
  return JSON.parse(row.facts) as StartFacts[]
}

/** Within what an idempotency key names one thing, beside the project (rules §5.1). */
export function scopeOf({ surface, sandbox }: Pick<StartQuestion, 'surface' | 'sandbox'>): string {
  return surface === 'chat' ? 'chat' : sandbox
}
