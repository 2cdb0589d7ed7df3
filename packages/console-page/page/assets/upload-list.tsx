import { RefusalBox } from '../components/refusal-box.tsx'
import { several } from '../pure/usd.ts'
import { sizeOf } from './asset-labels.ts'
import type { Upload } from './use-uploads.ts'

/** State of each upload, and the errors of refused files. */
export function UploadList({
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
