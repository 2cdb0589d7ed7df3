import type { Readable } from 'node:stream'
import type { MediaType } from '@gateway/api/media-type'

export interface StoredAsset {
  mimeType: MediaType
  bytes: number
}

/** The first and the last byte to read, counted from 0. */
export interface ByteRange {
  first: number
  last: number
}

/** Storage of bytes by key: a folder or a bucket. */
export interface BlobBackend {
  /** Stores a file's bytes under a key, and leaves the file in place. */
  store(key: string, file: string, asset: StoredAsset): Promise<void>
  /**
   * @param reader callers may read slowly, so their connections are separate from those of the process
   * @throws AssetMissing
   */
  read(key: string, range: ByteRange | null, reader: 'caller' | 'process'): Promise<Readable>
  remove(key: string): Promise<void>
  close(): void
}

/** The stream exceeds the maximum size. The caller can clear it. */
export class AssetTooLarge extends Error {
  readonly maxBytes: number

  constructor(maxBytes: number) {
    super(`more than ${maxBytes} bytes`)
    this.maxBytes = maxBytes
  }
}

/** The bytes are not PNG, JPEG, WebP, WAV, MPEG audio or PDF. The caller can clear it. */
export class AssetTypeUnknown extends Error {
  constructor() {
    super('the bytes are of no type that is stored')
  }
}

/** No asset has these ids. */
export class AssetMissing extends Error {
  constructor(options?: ErrorOptions) {
    super('there is no such asset', options)
  }
}

/** The store cannot be read or written at the moment. */
export class AssetStoreUnavailable extends Error {
  constructor(options?: ErrorOptions) {
    super('the asset store is unavailable', options)
  }
}
