import type { RefusalBody, RefusalCode } from '@gateway/api/refusal'
import { chargeOf, type Charge } from './charge.ts'
import type { Execution } from './shapes.ts'

/** An execution failed or was stopped: the reason, the resolution, and the charge for the calls that completed. */
export class ExecutionFailed extends Error {
  override readonly name = 'ExecutionFailed'
  readonly code: RefusalCode
  /** How to clear it, for a user. */
  readonly resolution: string
  readonly type: RefusalBody['type']
  /** Machine-readable facts; empty if there are none. */
  readonly details: Readonly<Record<string, unknown>>
  /** Path of the part at fault, such as a node. */
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
