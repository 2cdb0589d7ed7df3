import type { RefusalBody, RefusalCode } from '@gateway/api/refusal'
import { chargeOf, type Charge } from './charge.ts'
import type { Execution } from './shapes.ts'

/** An execution has failed or was stopped: why, what clears it, and what it was charged for the calls that were answered. */
export class ExecutionFailed extends Error {
  override readonly name = 'ExecutionFailed'
  readonly code: RefusalCode
  /** What clears it, for a user. */
  readonly resolution: string
  readonly type: RefusalBody['type']
  /** Machine-readable facts; empty where none are reported. */
  readonly details: Readonly<Record<string, unknown>>
  /** What is at fault, such as a node, as a path. */
  readonly param: string | null
  readonly charged: Charge
  readonly execution: Execution

  constructor(execution: Execution, { message, code, resolution, type, details = {}, param }: RefusalBody) {
    super(message)
    this.code = code
    this.resolution = resolution
    this.type = type
    this.details = details
    this.param = param
    this.charged = chargeOf(execution.chargedMicro)
    this.execution = execution
  }
}
