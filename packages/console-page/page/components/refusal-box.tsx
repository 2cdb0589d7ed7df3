import { useQueryClient, type Query } from '@tanstack/react-query'
import { failedBy, refusalAddress, type Failed } from '../api/failed.ts'
import { CopyButton } from './copying.tsx'

/** An error and how to fix it, or nothing without an error. What could not be read can be read again. */
export function RefusalBox({ error }: { error: unknown }) {
  const client = useQueryClient()
  if (error === null || error === undefined) return null
  const isRead = client.getQueryCache().findAll({ type: 'active', predicate: ({ state }) => state.error === error })
  return (
    <FailedBox
      of={failedBy(error)}
      {...(isRead.length > 0 && {
        onRetry: () => void client.refetchQueries({ type: 'active', predicate: hasFailed }),
      })}
    />
  )
}

const hasFailed = ({ state }: Query) => state.error !== null

/** An error and how to fix it. @param onRetry tries again what failed */
export function FailedBox({
  of: { message, resolution, code, requestId },
  onRetry,
}: {
  of: Failed
  onRetry?: () => void
}) {
  return (
    <div className="refusal" role="alert">
      <strong>{message}</strong>
      <p>{resolution}</p>
      {onRetry && (
        <button type="button" className="button small" onClick={onRetry}>
          Retry
        </button>
      )}
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
