import type { FlowPackage } from '@gateway/api/graph'
import type { CheckValues } from '@gateway/flow/contract'
import type { Plan } from '@gateway/flow/plan'

/** What the ledger needs of the package of a revision. */
export interface Flow {
  plan: Plan
  package: FlowPackage
  checkInput: CheckValues
  /** The contract's side of the output, JSON text. */
  outputContract: string
  /** Of the package's JSON text. */
  bytes: number
}
