import { openApiClient, type ApiClient } from '@gateway/api-client/open-api-client'
import type { Options, RowAt } from '@gateway/api-client/rows'
import { Assets } from './assets.ts'
import { Flow, progressOf, type Progress, type SignalOptions } from './flow.ts'
import { clientOptions, type Settings } from './settings.ts'
import type { Check, Execution, Invocation, Key, Model } from './shapes.ts'

export { ApiRefusal, Unreachable } from '@gateway/api-client/failures'
export type { RefusalCode } from '@gateway/api/refusal'
export { chargeOfUsage, type Charge } from './charge.ts'
export { ExecutionFailed } from './execution-failed.ts'
export { newIdempotencyKey } from './idempotency-key.ts'
export type { Assets, AssetType } from './assets.ts'
export type { Flow, Progress, RunOptions, SignalOptions, Succeeded } from './flow.ts'
export type * from './shapes.ts'

export interface GatewayOptions extends Settings {
  /** A key of a project, `svc_…`; by default the variable GATEWAY_KEY. */
  apiKey?: string | undefined
}

type CheckedCall = Options<RowAt<'POST', '/v1/key/check'>>['body']

const KEY = { option: 'apiKey', variable: 'GATEWAY_KEY', source: 'the secret of a key of your project, svc_…' }

/**
 * The gateway as a key calls it, apart from chat, which any client of OpenAI does. What reads, what has an idempotency key and what
 * may be repeated is tried up to three times; `signal` bounds the time.
 * All throw ApiRefusal where the service refuses, Unreachable where it does not answer, and the reason of the signal.
 */
export class Gateway {
  readonly assets: Assets
  readonly #api: ApiClient

  /** @throws TypeError that says what to set */
  constructor({ apiKey, ...settings }: GatewayOptions = {}) {
    this.#api = openApiClient(clientOptions(settings, apiKey, KEY))
    this.assets = new Assets(this.#api)
  }

  /** A sandbox product, by its id. Nothing is asked for. */
  flow<In extends object = Record<string, unknown>, Out extends object = Record<string, unknown>>(
    id: string,
  ): Flow<In, Out> {
    return new Flow(this.#api, id)
  }

  /** The record of an execution, as far as it has come. */
  execution(id: string, { signal }: SignalOptions = {}): Promise<Execution> {
    return this.#api.ask('GET', '/v1/executions/{id}', { params: { id }, signal })
  }

  /** The lines of an execution behind `after`, regardless of who began it; all of them without. Over any lost connection, like `flow().follow`. */
  progress(execution: string, { after = -1, signal }: SignalOptions & { after?: number } = {}): Progress {
    return progressOf(this.#api, execution, after, signal)
  }

  /** What this key is, and what is left of its limit. */
  key({ signal }: SignalOptions = {}): Promise<Key> {
    return this.#api.ask('GET', '/v1/key', { signal })
  }

  /** Whether a chat call would be admitted now, and what would refuse it. Nothing is reserved. */
  check(call: CheckedCall, { signal }: SignalOptions = {}): Promise<Check> {
    return this.#api.ask('POST', '/v1/key/check', { body: call, isRepeatable: true, signal })
  }

  /** What a call was charged, by the id in `X-Service-Invocation` of its answer. */
  invocation(id: string, { signal }: SignalOptions = {}): Promise<Invocation> {
    return this.#api.ask('GET', '/v1/invocations/{id}', { params: { id }, signal })
  }

  /** The models that this key can call now. */
  async models({ signal }: SignalOptions = {}): Promise<Model[]> {
    return (await this.#api.ask('GET', '/v1/models', { signal })).data
  }
}
