import type { FlowPackage } from '@gateway/api/graph'
import type { CheckValues } from '@gateway/flow/contract'
import type { Plan } from '@gateway/flow/plan'

/** The parts of a revision's package that the ledger uses. */
export interface Flow {
  plan: Plan
  package: FlowPackage
  checkInput: CheckValues
  /** The output part of the contract, as JSON text. */
  outputContract: string
  /** Of the package's JSON text. */
  bytes: number
}
