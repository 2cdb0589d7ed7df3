import { useRef, useState } from 'react'
import type { MediaType } from '@gateway/api/media-type'
import { useChange } from '../api/use-change.ts'
import { useScope } from '../api/use-project.ts'
import { readAssetFile } from '../flow-editor/run/asset-file.ts'
import { uploadAsset } from '../flow-editor/run/upload-asset.ts'
import { ASSETS } from './use-assets.ts'

export interface Upload {
  id: number
  file: File
  state: 'waiting' | 'sending' | 'done' | 'failed'
  /** Why the file was refused before it was sent. */
  fault?: string
  /** Error from the service. */
  error?: unknown
}

let uploadCount = 0

/** Uploads files in sequence. A failed file does not stop the others. */
export function useUploads() {
  const scope = useScope()
  const [uploads, setUploads] = useState<Upload[]>([])
  const queue = useRef(Promise.resolve())
  const { mutateAsync } = useChange(
    ({ file, type }: { file: File; type: MediaType }) => uploadAsset(scope, file, type),
    'File uploaded.',
    [ASSETS],
  )
  const update = ({ id }: Upload, now: Partial<Upload>) =>
    setUploads((before) => before.map((each) => (each.id === id ? { ...each, ...now } : each)))

  const send = async (upload: Upload) => {
    update(upload, { state: 'sending' })
    try {
      const read = await readAssetFile(upload.file, 'media').catch(() => ({ fault: UNREADABLE }))
      if ('fault' in read) return update(upload, { state: 'failed', ...read })
      await mutateAsync({ file: upload.file, type: read.type })
      update(upload, { state: 'done' })
    } catch (error) {
      update(upload, { state: 'failed', error })
    }
  }
  const add = (files: Iterable<File>) => {
    const added = Array.from(files, (file): Upload => ({ id: uploadCount++, file, state: 'waiting' }))
    setUploads((before) => [...before.filter(isKept(before)), ...added])
    for (const upload of added) queue.current = queue.current.then(() => send(upload))
  }
  const dismiss = ({ id }: Upload) => setUploads((before) => before.filter((each) => each.id !== id))
  return { uploads: uploads.filter(isKept(uploads)), add, dismiss }
}

const isUnderWay = ({ state }: Upload) => state === 'waiting' || state === 'sending'

/** Finished uploads are shown until all are finished, failed ones until they are dismissed. */
function isKept(uploads: Upload[]): (upload: Upload) => boolean {
  const someAreUnderWay = uploads.some(isUnderWay)
  return ({ state }) => state !== 'done' || someAreUnderWay
}

const UNREADABLE = "This item can't be read. Choose files, not folders."
