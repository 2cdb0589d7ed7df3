import { useMe } from '../api/session.ts'

/** To the spans of a call, where the operator says that there are any. */
export function TraceLink({ call }: { call: string }) {
  const { traceUrl } = useMe()
  if (traceUrl === null) return null
  const address = traceUrl.replaceAll('{invocation}', encodeURIComponent(call))
  return (
    <a className="button" href={address} target="_blank" rel="noreferrer">
      Trace
    </a>
  )
}
