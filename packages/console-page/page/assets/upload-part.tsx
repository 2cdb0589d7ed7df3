import { useRef, type RefObject } from 'react'
import { Icon } from '../components/icon.tsx'
import { RetentionLabels } from './retention-labels.tsx'
import { UploadList } from './upload-list.tsx'
import { useDroppedFiles } from './use-dropped-files.ts'
import { useUploads } from './use-uploads.ts'

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
