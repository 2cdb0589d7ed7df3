import type { RerunQuestion } from '@gateway/contracts/flow-reads'
import { refused, type Refused } from '@gateway/contracts/ledger-refusal'
import type { Plan } from '@gateway/flow/plan'
import type { Rerun } from '@gateway/flow/rerun'
import type { StartFacts } from '../start/start-facts.ts'
import { hasEnded } from '../store/execution-facts.ts'
import type { EarlierExecution } from './rerun-facts.ts'

// Whether an execution may take over results of an earlier one, in the order of rules §2.3. A repeat passes the first step
// only: by then the earlier execution may be forgotten.

/** What this question, or another one under its idempotency key, began before. null: go on. */
export function decideRepeat(
  { idempotency }: RerunQuestion,
  { asked, earlier: known }: Pick<StartFacts, 'asked' | 'earlier'>,
): { execution: string; replayed: boolean } | Refused | null {
  if (asked !== null) return { execution: asked.execution, replayed: false }
  if (known === null || idempotency === null) return null
  if (known.fingerprint !== idempotency.fingerprint) return refused('idempotency_mismatch', {})
  return { execution: known.execution, replayed: true }
}

/** What is taken over, and the revision that is to run. null: go on. */
export function decideEarlier(
  { execution, revision: named }: RerunQuestion,
  earlier: EarlierExecution | null,
  { revision, sandbox }: Pick<StartFacts, 'revision' | 'sandbox'>,
): Refused | null {
  if (earlier === null) return refused('execution_not_found', { execution })
  if (!hasEnded(earlier)) return refused('execution_not_ended', { execution })
  if (revision !== null) return null
  return refused('revision_not_active', {
    revision: named,
    activeRevision: sandbox?.active ?? null,
    suspended: false,
  })
}

/** What the packages and the node say. */
export function decideNodes(
  { execution, from }: RerunQuestion,
  revision: number,
  rerun: Rerun,
): Extract<Rerun, { kind: 'rerun' }> | Refused {
  if (rerun.kind === 'unknown-node') return refused('node_unknown', { from })
  if (rerun.kind === 'differs') return refused('rerun_differs', { execution, revision, nodes: rerun.nodes })
  return rerun
}

/** The products that it may call. */
export function productsAnew({ nodes }: Plan, { states }: Extract<Rerun, { kind: 'rerun' }>): string[] {
  const called = nodes.flatMap(({ ordinal, product }) => {
    const { state } = states[ordinal]!
    return product !== null && (state === 'Ready' || state === 'Pending') ? [product] : []
  })
  return [...new Set(called)]
}
