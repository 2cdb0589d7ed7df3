import { randomBytes } from 'node:crypto'
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { MEDIA_HEAD_BYTES, mediaTypeOf, type MediaType } from '@gateway/api/media-type'
import { AssetStoreUnavailable, AssetTooLarge, AssetTypeUnknown, type StoredAsset } from './blob-backend.ts'

export interface TemporaryFile extends StoredAsset {
  path: string
  remove(): Promise<void>
}

export interface TemporaryFolder {
  /**
   * Writes a stream into its own file. Leaves nothing of a failed stream.
   * @throws AssetTooLarge, AssetTypeUnknown, AssetStoreUnavailable, or any error of the stream
   */
  write(bytes: AsyncIterable<Uint8Array>, maxBytes: number): Promise<TemporaryFile>
  close(): Promise<void>
}

/**
 * A folder of this process for bytes in transit, accessible only to its owner; created on first use, and again if the
 * system has removed it.
 */
export function openTemporaryFolder(): TemporaryFolder {
  let folder: Promise<string> | null = null

  function madeFolder(): Promise<string> {
    folder ??= mkdtemp(path.join(tmpdir(), 'gateway-assets-')).catch((error: unknown) => {
      folder = null // the next call tries to create it again
      throw error
    })
    return folder
  }

  async function openFile(mayRepeat = true): Promise<{ file: string; handle: FileHandle }> {
    const made = madeFolder()
    const file = path.join(await made, randomBytes(8).toString('hex'))
    try {
      return { file, handle: await open(file, 'wx', 0o600) }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || !mayRepeat) throw error
      if (folder === made) folder = null
      return openFile(false)
    }
  }

  return {
    async write(source, maxBytes) {
      const { file, handle } = await openFile().catch((cause: unknown) => {
        throw new AssetStoreUnavailable({ cause })
      })
      const remove = () => rm(file, { force: true })
      const measured = measure(source, maxBytes)
      try {
        await pipeline(measured.bytes, handle.createWriteStream())
        return { path: file, remove, ...measured.result() }
      } catch (error) {
        await remove()
        throw isDiskError(error) ? new AssetStoreUnavailable({ cause: error }) : error
      }
    },
    async close() {
      const made = await folder?.catch(() => null)
      if (made) await rm(made, { recursive: true, force: true })
    },
  }
}

/** Passes bytes on and counts them. Detects their type from the first ones before passing any on. */
function measure(source: AsyncIterable<Uint8Array>, maxBytes: number) {
  let mimeType: MediaType | null = null
  let bytes = 0

  async function* passed(): AsyncGenerator<Uint8Array> {
    let head = Buffer.alloc(0)
    for await (const chunk of source) {
      bytes += chunk.length
      if (bytes > maxBytes) throw new AssetTooLarge(maxBytes)
      if (mimeType !== null) {
        yield chunk
        continue
      }
      head = Buffer.concat([head, chunk])
      if (head.length < MEDIA_HEAD_BYTES) continue
      mimeType = mediaTypeOf(head)
      if (mimeType === null) throw new AssetTypeUnknown()
      yield head
    }
  }

  return {
    bytes: passed(),
    result(): StoredAsset {
      if (mimeType === null) throw new AssetTypeUnknown() // ended before its type was detected
      return { mimeType, bytes }
    },
  }
}

/** Whether the disk is full or read-only, as opposed to a failure of the source. */
function isDiskError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && ['write', 'close'].includes(String(error.syscall))
}
