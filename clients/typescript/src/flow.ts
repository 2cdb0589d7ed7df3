import { followLines } from '@gateway/api-client/follow-lines'
import type { ApiClient } from '@gateway/api-client/open-api-client'
import { chargeOf, type Charge } from './charge.ts'
import { ExecutionFailed } from './execution-failed.ts'
import { newIdempotencyKey } from './idempotency-key.ts'
import type { Estimate, Execution, ProgressLine } from './shapes.ts'

/** What may be said of an execution that begins. */
export interface RunOptions {
  signal?: AbortSignal | undefined
  /** By default a new one. Two executions under the same key are one, charged once: keep it to repeat over a restart of your program. */
  idempotencyKey?: string | undefined
  /** Micro-USD that the execution is charged at most. */
  maxMicro?: number | undefined
}
export interface SignalOptions {
  signal?: AbortSignal | undefined
}

/** An execution that has succeeded. */
export interface Succeeded<Out> extends Omit<Execution, 'output'> {
  status: 'Succeeded'
  output: Out
  charged: Charge
}

/**
 * A sandbox product. `In` and `Out` are its contract.
 * All throw ApiRefusal where the service refuses, Unreachable where it does not answer, and the reason of the signal.
 */
export class Flow<In extends object = Record<string, unknown>, Out extends object = Record<string, unknown>> {
  readonly id: string
  readonly #api: ApiClient

  constructor(api: ApiClient, id: string) {
    this.#api = api
    this.id = id
  }

  /**
   * Executes it, and waits for the end over any lost connection.
   * @throws ExecutionFailed where the execution has failed or was stopped
   */
  async run(input: In, options: RunOptions = {}): Promise<Succeeded<Out>> {
    for await (const line of this.follow(input, options)) if (line.kind === 'complete') return succeeded(line.execution)
    throw new Error('unreachable: progress ends with a line `complete`')
  }

  /**
   * Executes it, and hands on each line of its progress once and in order, over any lost connection; the last one is `complete`,
   * also of an execution that has failed. Anyone who leaves the loop does not stop the execution.
   */
  follow(input: In, { signal, idempotencyKey = newIdempotencyKey(), maxMicro }: RunOptions = {}): Progress {
    const body = { input: input as Record<string, unknown>, ...(maxMicro !== undefined && { maxMicro }) }
    return followLines({
      begin: (fields) =>
        this.#api.raw('POST', '/v1/sandbox/{id}/invoke', { params: { id: this.id }, body, idempotencyKey, ...fields }),
      goOn: goOn(this.#api),
      signal,
    })
  }

  /** What an execution with this input would be charged at most. Nothing begins. */
  estimate(input: In, { signal }: SignalOptions = {}): Promise<Estimate> {
    return this.#api.ask('POST', '/v1/sandbox/{id}/estimate', {
      params: { id: this.id },
      body: { input: input as Record<string, unknown> },
      isRepeatable: true,
      signal,
    })
  }

  /** Stops an execution. The record is `Cancelled`, or `Running` until its last call has ended; one that has ended stays unchanged. */
  cancel(execution: string, { signal }: SignalOptions = {}): Promise<Execution> {
    return this.#api.ask('POST', '/v1/sandbox/{id}/executions/{execution}/cancel', {
      params: { id: this.id, execution },
      isRepeatable: true,
      signal,
    })
  }
}

export type Progress = AsyncGenerator<ProgressLine, void, undefined>

/** The lines of an execution behind one of them, regardless of who began it. */
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
