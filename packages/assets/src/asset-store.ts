import type { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import type { MediaType } from '@gateway/contracts/media-type'
import { AssetMissing, AssetStoreUnavailable, NotKept } from './asset-failures.ts'
import { keyOf } from './asset-key.ts'
import type { AssetStoreSettings } from './asset-store-config.ts'
import { openLocalBackend } from './local-backend.ts'
import type { BlobBackend } from './blob-backend.ts'
import { openTemporaryFile } from './temporary-file.ts'

// Where the bytes of a project lie.
//   B1  A key is made of two ids of ours and nothing else, so no name leads anywhere else.
//   B2  Bytes go to a file beside first, are measured and told there, and are put in place whole: memory holds a piece of
//       them at a time, and whoever stores knows their length.
//   B3  Nothing is public: whose an asset is says the ledger, and whoever asked it reads from here.

export interface StoredAsset {
  mimeType: MediaType
  bytes: number
}

/** The first and the last byte to be read, counted from 0. */
export interface ByteRange {
  first: number
  last: number
}

export interface AssetStore {
  /**
   * Stores a stream of bytes under an id that is new. Nothing is kept of what fails.
   * @throws AssetTooLarge, AssetTypeUnknown
   * @throws AssetStoreUnavailable when the store can not be written
   * @throws whatever the stream fails with
   */
  put(
    project: string,
    asset: string,
    bytes: AsyncIterable<Uint8Array>,
    limits: { maxBytes: number },
  ): Promise<StoredAsset>
  /**
   * Reads the bytes, or a part of them. The stream is to be read or destroyed.
   * @throws AssetMissing, AssetStoreUnavailable
   */
  open(project: string, asset: string, range?: ByteRange): Promise<Readable>
  /** Removes what was stored and is not wanted; of what is not there it says nothing. */
  remove(project: string, asset: string): Promise<void>
  close(): Promise<void>
}

/** How often a store in the network is asked to take the same bytes. */
const TRIES = 3
const BACK_OFF_MS = 100

/** Opens the store: a folder, or a bucket where one is named. */
export async function openAssetStore(settings: AssetStoreSettings): Promise<AssetStore> {
  const backend = await openBackend(settings)
  const temporaryFile = openTemporaryFile()

  return {
    async put(project, asset, bytes, { maxBytes }) {
      const key = keyOf(project, asset) // B1
      const spooled = await temporaryFile.take(bytes, maxBytes) // B2
      try {
        await tryOften(() => backend.store(key, spooled.path, spooled))
        return { mimeType: spooled.mimeType, bytes: spooled.bytes }
      } finally {
        await spooled.discard()
      }
    },
    async open(project, asset, range) {
      const key = keyOf(project, asset)
      try {
        return await backend.read(key, range ?? null)
      } catch (error) {
        throw error instanceof AssetMissing ? error : new AssetStoreUnavailable({ cause: error })
      }
    },
    async remove(project, asset) {
      const key = keyOf(project, asset)
      try {
        await backend.remove(key)
      } catch (error) {
        throw new AssetStoreUnavailable({ cause: error })
      }
    },
    async close() {
      await temporaryFile.close()
      backend.close()
    },
  }
}

async function openBackend(settings: AssetStoreSettings): Promise<BlobBackend> {
  if (settings.bucket === null) return openLocalBackend(settings.folder)
  const { openBucketBackend } = await import('./bucket-backend.ts') // the SDK is large, and most stacks don't need it
  return openBucketBackend(settings.bucket)
}

async function tryOften(store: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await store()
    } catch (error) {
      if (error instanceof NotKept) throw error
      if (tries === TRIES) throw new AssetStoreUnavailable({ cause: error })
      await wait(BACK_OFF_MS * tries)
    }
  }
}
