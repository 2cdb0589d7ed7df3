import type { ApiClient } from '@gateway/api-client/open-api-client'
import type { BodyBytes, Options, RowAt } from '@gateway/api-client/rows'
import type { SignalOptions } from './flow.ts'
import type { Asset } from './shapes.ts'

export type AssetType = Options<RowAt<'POST', '/v1/assets'>>['contentType']

/** Images and sounds of the project. */
export class Assets {
  readonly #api: ApiClient

  constructor(api: ApiClient) {
    this.#api = api
  }

  /**
   * Keeps a file, and answers the value that names it in an input. Not tried again by itself: each upload is its own asset.
   * @param contentType by default that of a Blob
   * @throws ApiRefusal; Unreachable; TypeError where nothing says what the bytes are
   */
  async upload(
    body: BodyBytes,
    { contentType, signal }: SignalOptions & { contentType?: AssetType } = {},
  ): Promise<Asset> {
    const type = contentType ?? (body instanceof Blob ? body.type : '')
    if (type === '') throw new TypeError('Give contentType, such as image/png: these bytes do not say what they are.')
    return this.#api.ask('POST', '/v1/assets', { body, contentType: type as AssetType, signal })
  }

  /**
   * The answer with its bytes: `.blob()`, `.bytes()`, or `.body` as a stream.
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
