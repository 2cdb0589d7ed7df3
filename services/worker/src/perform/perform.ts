import type { CompleteItem } from '@gateway/contracts/flow-items'
import type { Values } from '@gateway/contracts/execution'
import type { ContractSide } from '@gateway/contracts/graph'
import { resolveInputs } from '@gateway/flow/resolve-inputs'
import { runFreeNode } from '@gateway/flow/run-free-node'
import type { PaidKind } from '../kinds/paid-kind.ts'
import type { Ending } from '../run/ending.ts'
import type { Work } from '../run/run-node.ts'
import type { ExplainFailure } from './explain-failure.ts'
import type { PerformPaid } from './paid-node.ts'

/** What work on a node came to. */
export interface Performed {
  result: CompleteItem['result']
  /** null: nothing is charged. */
  usage: CompleteItem['usage']
  /** What the provider took, in milliseconds; null where none was called. */
  remoteMs: number | null
}

/** Never rejects: what fails is a result. */
export type Perform = (work: Work, ending: Ending) => Promise<Performed>

interface Deps {
  /** By kind of node. All others are free. */
  paidKinds: Readonly<Record<string, PaidKind>>
  performPaid: PerformPaid
  explain: ExplainFailure
}

export function performer({ paidKinds, performPaid, explain }: Deps): Perform {
  return async (work, ending) => {
    const { node, sources, outputs } = work.claim
    try {
      const inputs = resolveInputs(sources, outputs, node)
      const paid = paidKinds[node.kind]
      return paid ? await performPaid(work, paid, inputs, ending) : performFree(work, inputs)
    } catch (error) {
      return { result: explain(error, work), usage: null, remoteMs: null }
    }
  }
}

function performFree({ claim: { node, contract } }: Work, inputs: Values): Performed {
  const side = contract === null ? null : (JSON.parse(contract) as ContractSide)
  const ran = runFreeNode(node, inputs, side)
  const free = { usage: null, remoteMs: null }
  if (ran.kind === 'failed') return { ...free, result: { kind: 'failed', error: JSON.stringify(ran.error) } }
  return { ...free, result: { kind: 'succeeded', output: JSON.stringify(ran.output), ports: ran.ports } }
}
