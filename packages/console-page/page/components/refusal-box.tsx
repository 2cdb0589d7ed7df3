import { failedBy, refusalAddress, type Failed } from '../api/failed.ts'
import { CopyButton } from './copying.tsx'

/** An error and how to fix it, or nothing without an error. */
export function RefusalBox({ error }: { error: unknown }) {
  return error === null || error === undefined ? null : <FailedBox of={failedBy(error)} />
}

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
