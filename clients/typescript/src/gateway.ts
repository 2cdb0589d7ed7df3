import { openApiClient, type ApiClient } from '@gateway/api-client/open-api-client'
import type { Options, RowAt, BodyBytes } from '@gateway/api-client/rows'
import { Flow, progressOf, type Progress, type SignalOptions } from './flow.ts'
import { clientOptions, type Settings } from './settings.ts'
import type { Check, Execution, Invocation, Key, Model, Asset } from './shapes.ts'

export { ApiRefusal, Unreachable } from '@gateway/api-client/failures'
export type { RefusalCode } from '@gateway/api/refusal'
export { chargeOfUsage, type Charge } from './charge.ts'
export { ExecutionFailed } from './flow.ts'
export { newIdempotencyKey } from './idempotency-key.ts'
export type { Flow, Progress, RunOptions, SignalOptions, Succeeded } from './flow.ts'
export type * from './shapes.ts'

export interface GatewayOptions extends Settings {
  /** A key of a project, `svc_…`; defaults to the variable GATEWAY_KEY. */
  apiKey?: string | undefined
}

type CheckedCall = Options<RowAt<'POST', '/v1/key/check'>>['body']

const KEY = { option: 'apiKey', variable: 'GATEWAY_KEY', source: 'an API key of your project, svc_…' }

/**
 * The gateway as a key calls it, except for chat, which any OpenAI client covers. Reads, requests with an idempotency
 * key and those safe to repeat are tried up to three times; `signal` bounds the time. Every method throws ApiRefusal if
 * the service refuses, Unreachable if it does not respond, and the reason of the signal.
 */
export class Gateway {
  readonly assets: Assets
  readonly #api: ApiClient

  /** @throws TypeError that names the missing setting */
  constructor({ apiKey, ...settings }: GatewayOptions = {}) {
    this.#api = openApiClient(clientOptions(settings, apiKey, KEY))
    this.assets = new Assets(this.#api)
  }

  /** A sandbox product by its id. Sends no request. */
  flow<In extends object = Record<string, unknown>, Out extends object = Record<string, unknown>>(
    id: string,
  ): Flow<In, Out> {
    return new Flow(this.#api, id)
  }

  /** Returns the record of an execution in its current state. */
  execution(id: string, { signal }: SignalOptions = {}): Promise<Execution> {
    return this.#api.ask('GET', '/v1/executions/{id}', { params: { id }, signal })
  }

  /**
   * Yields the lines of an execution after `after`, or all, regardless of who started it. Reconnects like
   * `flow().follow`.
   */
  progress(execution: string, { after = -1, signal }: SignalOptions & { after?: number } = {}): Progress {
    return progressOf(this.#api, execution, after, signal)
  }

  /** Returns this key, with what is left of its limit. */
  key({ signal }: SignalOptions = {}): Promise<Key> {
    return this.#api.ask('GET', '/v1/key', { signal })
  }

  /** Returns whether a chat call would be admitted now, and what would refuse it. Reserves nothing. */
  check(call: CheckedCall, { signal }: SignalOptions = {}): Promise<Check> {
    return this.#api.ask('POST', '/v1/key/check', { body: call, isRepeatable: true, signal })
  }

  /** Returns the charge of a call, by the id in `X-Service-Invocation` of its response. */
  invocation(id: string, { signal }: SignalOptions = {}): Promise<Invocation> {
    return this.#api.ask('GET', '/v1/invocations/{id}', { params: { id }, signal })
  }

  /** Returns the models that this key can call now. */
  async models({ signal }: SignalOptions = {}): Promise<Model[]> {
    return (await this.#api.ask('GET', '/v1/models', { signal })).data
  }
}

export type AssetType = Options<RowAt<'POST', '/v1/assets'>>['contentType']

/** Images and audio of the project. */
export class Assets {
  readonly #api: ApiClient

  constructor(api: ApiClient) {
    this.#api = api
  }

  /**
   * Stores a file, and returns the value that names it in an input. Not retried: each upload creates an asset.
   * @param contentType defaults to that of a Blob
   * @throws ApiRefusal; Unreachable; TypeError if the content type is unknown
   */
  async upload(
    body: BodyBytes,
    { contentType, signal }: SignalOptions & { contentType?: AssetType } = {},
  ): Promise<Asset> {
    const type = contentType ?? (body instanceof Blob ? body.type : '')
    if (type === '') throw new TypeError('Set contentType, such as image/png: these bytes have no type.')
    return this.#api.ask('POST', '/v1/assets', { body, contentType: type as AssetType, signal })
  }

  /**
   * Returns the response with its bytes: `.blob()`, `.bytes()`, or `.body` as a stream.
   * @param range one range of bytes, such as `bytes=0-1023`
   */
  download(
    asset: string | Pick<Asset, 'asset'>,
    { range, signal }: SignalOptions & { range?: string } = {},
  ): Promise<Response> {
    const id = typeof asset === 'string' ? asset : asset.asset
    const headers = range === undefined ? undefined : { range }
    return this.#api.raw('GET', '/v1/assets/{id}', { params: { id }, headers, signal })
  }
}
