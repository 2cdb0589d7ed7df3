import type { Values } from '@gateway/contracts/execution'
import type { PaidKind } from '../kinds/paid-kind.ts'
import type { Ending } from '../run/ending.ts'
import type { Work } from '../run/run-node.ts'
import type { AdmitNode } from './admit-node.ts'
import type { ExplainFailure } from './explain-failure.ts'
import type { Performed } from './perform.ts'
import { refuseLargeValues } from './refuse-large-values.ts'

// A paid node: prepare, admit, call.
//   P1  What fails before the answer is there is not charged: without usage the ledger releases what is held.
//   P2  Once the provider has answered, its answer is charged, whether the flow can use it or not.

/** Rejects with what happened before anything was called. */
export type PerformPaid = (work: Work, kind: PaidKind, inputs: Values, ending: Ending) => Promise<Performed>

interface Deps {
  admit: AdmitNode
  explain: ExplainFailure
  /** Monotonic milliseconds. */
  now: () => number
}

export function paidPerformer({ admit, explain, now }: Deps): PerformPaid {
  return async (work, kind, inputs, ending) => {
    const { signal } = ending
    ending.listen()
    const call = await kind(work, inputs, signal)
    const admitted = await admit(work, call, signal)
    const startedMs = now()
    const remoteMs = () => now() - startedMs
    try {
      const answer = await call.make(admitted, signal)
      return { result: resultOf(work, answer.output), usage: answer.usage, remoteMs: answer.remoteMs ?? remoteMs() }
    } catch (error) {
      return { result: explain(error, work), usage: null, remoteMs: remoteMs() } // P1
    }
  }

  /** P2 */
  function resultOf(work: Work, outputOf: () => Values): Performed['result'] {
    try {
      const output = outputOf()
      refuseLargeValues(work.claim.node.id, output)
      return { kind: 'succeeded', output: JSON.stringify(output), ports: Object.keys(output) }
    } catch (error) {
      return explain(error, work)
    }
  }
}
