import { useMe } from '../api/session.ts'

/** Link to the trace of a call, if the operator configured a trace URL. */
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
