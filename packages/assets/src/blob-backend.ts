import type { Readable } from 'node:stream'
import type { MediaType } from '@gateway/contracts/media-type'

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
