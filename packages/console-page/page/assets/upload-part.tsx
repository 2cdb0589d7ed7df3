import { useRef, type RefObject, useEffect, useEffectEvent, useState } from 'react'
import { Icon } from '../components/icon.tsx'
import { Link } from '@tanstack/react-router'
import { useChange } from '../api/queries.ts'
import { useProject, useScope } from '../api/session.ts'
import { several } from '../components/usd.ts'
import { RefusalBox } from '../components/refusal-box.tsx'
import { LeaveGuard } from '../components/dialog.tsx'
import { announce } from '../frame/announcer.ts'
import { failedBy } from '../api/failed.ts'
import { sizeOf, ASSETS } from './asset-labels.ts'
import type { MediaType } from '@gateway/api/media-type'
import { readAssetFile, uploadAsset } from '../flow-editor/run/asset-file.ts'

/** Uploads files that are dropped on the page or selected. */
export function UploadPart() {
  const { uploads, add, dismiss } = useUploads()
  const isOver = useDroppedFiles(add)
  const field = useRef<HTMLInputElement>(null)
  return (
    <>
      <div className="drop" data-over={isOver || undefined}>
        <Icon name="assets" />
        <div>
          <strong>{isOver ? 'Drop to upload' : 'Drop images, audio or PDF files here'}</strong>
          <p className="soft small">
            PNG, JPEG, WebP, WAV, MP3 or PDF, at most 25 MB each. <RetentionLabels />
          </p>
        </div>
        <FileField field={field} onChoose={add} />
        <button type="button" className="button main" onClick={() => field.current?.click()}>
          Upload files
        </button>
      </div>
      <UploadList
        uploads={uploads}
        onAgain={(upload) => {
          dismiss(upload)
          add([upload.file])
        }}
        onDismiss={dismiss}
      />
      <LeaveGuard title="Uploads in progress" isUnsaved={uploads.some(isUnderWay)}>
        Uploads continue while the console is open, but a file that fails must be selected again. Closing the tab ends
        them.
      </LeaveGuard>
    </>
  )
}

function FileField({
  field,
  onChoose,
}: {
  field: RefObject<HTMLInputElement | null>
  onChoose: (files: File[]) => void
}) {
  return (
    <input
      ref={field}
      type="file"
      multiple
      hidden
      accept="image/png,image/jpeg,image/webp,audio/wav,audio/mpeg,application/pdf"
      onChange={({ target }) => {
        onChoose([...(target.files ?? [])])
        target.value = ''
      }}
    />
  )
}

/** Retention period of assets, and where to change it. */
function RetentionLabels() {
  const scope = useScope()
  const { data: project } = useProject()
  if (!project) return null
  const { assetRetentionDays: days } = project
  return (
    <>
      {days === null ? 'Kept until deleted' : `Deleted after ${several(days, 'day')}`} (
      <Link to="/projects/$tenant/$project/settings" params={scope}>
        settings
      </Link>
      ).
    </>
  )
}

/** Accepts files dropped anywhere on the page. @returns whether files are being dragged over it */
function useDroppedFiles(take: (files: File[]) => void): boolean {
  const [isOver, setOver] = useState(false)
  const onDrop = useEffectEvent(take)
  useEffect(() => {
    const over = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return
      event.preventDefault() // otherwise the browser navigates to the file
      setOver(true)
    }
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false)
    }
    const drop = (event: DragEvent) => {
      setOver(false)
      const files = [...(event.dataTransfer?.files ?? [])]
      if (files.length === 0) return
      event.preventDefault()
      onDrop(files)
    }
    addEventListener('dragover', over)
    addEventListener('dragleave', leave)
    addEventListener('drop', drop)
    return () => {
      removeEventListener('dragover', over)
      removeEventListener('dragleave', leave)
      removeEventListener('drop', drop)
    }
  }, [])
  return isOver
}

/** State of each upload, and the errors of refused files. */
function UploadList({
  uploads,
  onAgain,
  onDismiss,
}: {
  uploads: Upload[]
  onAgain: (upload: Upload) => void
  onDismiss: (upload: Upload) => void
}) {
  if (uploads.length === 0) return null
  const bytes = (of: Upload[]) => of.reduce((sum, { file }) => sum + file.size, 0)
  const ended = uploads.filter(({ state }) => state === 'done' || state === 'failed')
  return (
    <section className="card stack" aria-label="Uploads">
      {ended.length < uploads.length && (
        <label className="upload-sum">
          Uploading {several(uploads.length, 'file')}
          <progress value={bytes(ended)} max={Math.max(1, bytes(uploads))} />
        </label>
      )}
      <ul className="uploads">
        {uploads.map((upload) => (
          <li key={upload.id}>
            <div className="head">
              <span className="upload-name">
                {upload.file.name} <span className="soft small">{sizeOf(upload.file.size)}</span>
              </span>
              {upload.state === 'failed' ? (
                <span className="buttons">
                  {upload.fault === undefined && (
                    <button type="button" className="button small" onClick={() => onAgain(upload)}>
                      Try again
                    </button>
                  )}
                  <button
                    type="button"
                    className="button small quiet"
                    aria-label={`Dismiss ${upload.file.name}`}
                    onClick={() => onDismiss(upload)}
                  >
                    Dismiss
                  </button>
                </span>
              ) : (
                <span className="soft">{words[upload.state]}</span>
              )}
            </div>
            {upload.fault !== undefined && (
              <p className="fault" role="alert">
                {upload.fault}
              </p>
            )}
            <RefusalBox error={upload.error} />
          </li>
        ))}
      </ul>
    </section>
  )
}

const words = { waiting: 'Waiting', sending: 'Sending…', done: 'Uploaded' }

interface Upload {
  id: number
  file: File
  state: 'waiting' | 'sending' | 'done' | 'failed'
  /** Why the file was refused before it was sent. */
  fault?: string
  /** Error from the service. */
  error?: unknown
}

let uploadCount = 0

/** Uploads files in sequence, also after the user leaves the screen. A failed file does not stop the others. */
function useUploads() {
  const isShown = useRef(false)
  useEffect(() => {
    isShown.current = true
    return () => void (isShown.current = false)
  }, [])
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

  const fail = (upload: Upload, why: Pick<Upload, 'fault' | 'error'>) => {
    update(upload, { state: 'failed', ...why })
    if (!isShown.current) announce(`${upload.file.name} was not uploaded. ${why.fault ?? failedBy(why.error).message}`)
  }
  const send = async (upload: Upload) => {
    update(upload, { state: 'sending' })
    try {
      const read = await readAssetFile(upload.file, 'media').catch(() => ({ fault: UNREADABLE }))
      if ('fault' in read) return fail(upload, read)
      await mutateAsync({ file: upload.file, type: read.type })
      update(upload, { state: 'done' })
    } catch (error) {
      fail(upload, { error })
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
