import type { ApiClient } from '@gateway/api-client/open-api-client'
import type { BodyBytes, Options, RowAt } from '@gateway/api-client/rows'
import type { SignalOptions } from './flow.ts'
import type { Asset } from './shapes.ts'

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
