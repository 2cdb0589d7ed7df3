import type { Readable } from 'node:stream'
import type { MediaType } from '@gateway/api/media-type'

export interface StoredAsset {
  mimeType: MediaType
  bytes: number
}

/** The first and the last byte to be read, counted from 0. */
export interface ByteRange {
  first: number
  last: number
}

/** What keeps bytes under keys: a folder or a bucket. */
export interface BlobBackend {
  /** Puts a file's bytes under a key. The file stays. */
  store(key: string, file: string, asset: StoredAsset): Promise<void>
  /** @throws AssetMissing */
  read(key: string, range: ByteRange | null): Promise<Readable>
  remove(key: string): Promise<void>
  close(): void
}

/** There are more bytes than may be stored. The caller can clear it. */
export class AssetTooLarge extends Error {
  readonly maxBytes: number

  constructor(maxBytes: number) {
    super(`more than ${maxBytes} bytes`)
    this.maxBytes = maxBytes
  }
}

/** The bytes are not PNG, JPEG, WebP, WAV or MPEG audio. The caller can clear it. */
export class AssetTypeUnknown extends Error {
  constructor() {
    super('the bytes are of no type that is stored')
  }
}

/** There is nothing under these ids. */
export class AssetMissing extends Error {
  constructor(options?: ErrorOptions) {
    super('there is no such asset', options)
  }
}

/** The store cannot be read or written now. */
export class AssetStoreUnavailable extends Error {
  constructor(options?: ErrorOptions) {
    super('the asset store is unavailable', options)
  }
}
