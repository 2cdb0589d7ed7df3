import { ApiRefusal } from '@gateway/api-client/failures'
import { failedBy } from '../api/failed.ts'
import { CopyButton } from './copy-button.tsx'

/** What was refused, and what clears it, where it happened. Nothing without an error. */
export function RefusalBox({ error }: { error: unknown }) {
  if (error === null || error === undefined) return null
  const { message, resolution, code, requestId } = failedBy(error)
  return (
    <div className="refusal" role="alert">
      <strong>{message}</strong>
      <p>{resolution}</p>
      <p className="soft small head">
        <a href={`/docs/refusals/${error instanceof ApiRefusal ? code : ''}`} target="_blank" rel="noreferrer">
          <code>{code}</code>
        </a>
        {requestId !== null && (
          <span>
            Request <code>{requestId}</code> <CopyButton text={requestId} label="Copy the request id" isSmall />
          </span>
        )}
      </p>
    </div>
  )
}
