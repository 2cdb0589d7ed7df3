import type { Readable } from 'node:stream'
import type { ByteRange, StoredAsset } from './asset-store.ts'

/** What a place for bytes has to offer. */
export interface BlobBackend {
  /** Puts a file's bytes under a key. The file stays. */
  store(key: string, file: string, asset: StoredAsset): Promise<void>
  /** @throws AssetMissing */
  read(key: string, range: ByteRange | null): Promise<Readable>
  remove(key: string): Promise<void>
  close(): void
}
