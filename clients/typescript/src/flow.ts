import { ApiRefusal, Unreachable } from '@gateway/api-client/failures'
import { followLines } from '@gateway/api-client/follow-lines'
import type { ApiClient } from '@gateway/api-client/open-api-client'
import { chargeOf, type Charge } from './charge.ts'
import { newIdempotencyKey } from './idempotency-key.ts'
import type { Estimate, Execution, ProgressLine } from './shapes.ts'
import type { RefusalBody, RefusalCode } from '@gateway/api/refusal'

/** Options of a new execution. */
export interface RunOptions {
  /** Ends the wait with its reason, which has no key: pass `idempotencyKey` to continue the same execution. */
  signal?: AbortSignal | undefined
  /**
   * Defaults to a new key. Two runs under the same key are one execution, charged once: store it to retry after a
   * restart of your program.
   */
  idempotencyKey?: string | undefined
  /** Maximum charge of the execution, in micro-USD. */
  maxMicro?: number | undefined
}
export interface SignalOptions {
  signal?: AbortSignal | undefined
}

/** An execution that succeeded. */
export interface Succeeded<Out> extends Omit<Execution, 'output'> {
  status: 'Succeeded'
  output: Out
  charged: Charge
}

/**
 * A sandbox product. `In` and `Out` are its contract. Every method throws ApiRefusal if the service refuses,
 * Unreachable if it does not respond, and the reason of the signal.
 */
export class Flow<In extends object = Record<string, unknown>, Out extends object = Record<string, unknown>> {
  readonly id: string
  readonly #api: ApiClient

  constructor(api: ApiClient, id: string) {
    this.#api = api
    this.id = id
  }

  /**
   * Runs it, and waits for the end across lost connections.
   * @throws ExecutionFailed if the execution failed or was stopped; as `follow`
   */
  async run(input: In, options: RunOptions = {}): Promise<Succeeded<Out>> {
    for await (const line of this.follow(input, options)) if (line.kind === 'complete') return succeeded(line.execution)
    throw new Error('unreachable: progress ends with a line `complete`')
  }

  /**
   * Runs it, and yields each line of its progress once and in order, across lost connections; the last one is
   * `complete`, also for a failed execution. Leaving the loop does not stop the execution.
   * @throws ApiRefusal or Unreachable with the idempotency key, under which another run continues the same execution
   */
  async *follow(input: In, { signal, idempotencyKey = newIdempotencyKey(), maxMicro }: RunOptions = {}): Progress {
    const body = { input: input as Record<string, unknown>, ...(maxMicro !== undefined && { maxMicro }) }
    const lines = followLines<ProgressLine>({
      begin: (fields) =>
        this.#api.raw('POST', '/v1/sandbox/{id}/invoke', { params: { id: this.id }, body, idempotencyKey, ...fields }),
      goOn: goOn(this.#api),
      signal,
    })
    let execution: string | null = null
    try {
      for await (const line of lines) {
        if (line.kind === 'admitted') execution = line.executionId
        yield line
      }
    } catch (error) {
      if (error instanceof ApiRefusal || error instanceof Unreachable)
        Object.assign(error, { idempotencyKey, execution })
      throw error
    }
  }

  /** Returns the maximum charge of an execution with this input. Starts nothing. */
  estimate(input: In, { signal }: SignalOptions = {}): Promise<Estimate> {
    return this.#api.ask('POST', '/v1/sandbox/{id}/estimate', {
      params: { id: this.id },
      body: { input: input as Record<string, unknown> },
      isRepeatable: true,
      signal,
    })
  }

  /**
   * Stops an execution. The record is `Cancelled`, or `Running` until its last call has ended; an ended one stays
   * unchanged.
   */
  cancel(execution: string, { signal }: SignalOptions = {}): Promise<Execution> {
    return this.#api.ask('POST', '/v1/sandbox/{id}/executions/{execution}/cancel', {
      params: { id: this.id, execution },
      isRepeatable: true,
      signal,
    })
  }
}

export type Progress = AsyncGenerator<ProgressLine, void, undefined>

/** Yields the lines of an execution after a given one, regardless of who started it. */
export function progressOf(
  api: ApiClient,
  execution: string,
  after: number,
  signal: AbortSignal | undefined,
): Progress {
  return followLines({ begin: null, goOn: goOn(api), execution, after, signal })
}

const goOn =
  (api: ApiClient): Parameters<typeof followLines>[0]['goOn'] =>
  (id, after, fields) =>
    api.raw('GET', '/v1/executions/{id}/progress', { params: { id }, query: { after }, ...fields })

function succeeded<Out>(execution: Execution): Succeeded<Out> {
  if (execution.error !== null) throw new ExecutionFailed(execution, execution.error)
  return {
    ...execution,
    status: 'Succeeded',
    output: execution.output as Out,
    charged: chargeOf(execution.chargedMicro),
  }
}

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
