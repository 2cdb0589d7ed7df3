import { mkdir, open } from 'node:fs/promises'
import path from 'node:path'
import { Disk } from 'flydrive'
import { FSDriver } from 'flydrive/drivers/fs'
import { AssetMissing } from './asset-failures.ts'
import type { BlobBackend } from './blob-backend.ts'

/** A folder of this machine, or one that all processes mount. Only its owner may look into it. */
export async function openLocalBackend(folder: string): Promise<BlobBackend> {
  const root = path.resolve(folder)
  await mkdir(root, { recursive: true, mode: 0o700 })
  const disk = new Disk(new FSDriver({ location: root, visibility: 'private' }))

  return {
    store: (key, file) => disk.copyFromFs(file, key),
    // The library reads a file from its beginning to its end only.
    async read(key, range) {
      const file = await open(path.join(root, key)).catch((error: NodeJS.ErrnoException) => {
        throw error.code === 'ENOENT' ? new AssetMissing({ cause: error }) : error
      })
      return file.createReadStream(range ? { start: range.first, end: range.last } : {})
    },
    remove: (key) => disk.delete(key),
    close() {},
  }
}
