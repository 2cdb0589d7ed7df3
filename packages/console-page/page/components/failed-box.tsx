import { refusalAddress, type Failed } from '../api/failed.ts'
import { CopyButton } from './copy-button.tsx'

/** An error and how to fix it. */
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
            Request <code>{requestId}</code> <CopyButton text={requestId} label="Copy request ID" isSmall />
          </span>
        )}
      </p>
    </div>
  )
}
