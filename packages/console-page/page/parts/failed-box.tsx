import { refusalAddress, type Failed } from '../api/failed.ts'
import { CopyButton } from './copy-button.tsx'

/** What is not done, and what clears it. */
export function FailedBox({ of: { message, resolution, code, requestId } }: { of: Failed }) {
  return (
    <div className="refusal" role="alert">
      <strong>{message}</strong>
      <p>{resolution}</p>
      <p className="soft small head">
        <a href={refusalAddress(code)} target="_blank" rel="noreferrer">
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
