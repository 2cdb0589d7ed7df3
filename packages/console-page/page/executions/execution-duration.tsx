import { useEffect, useState } from 'react'
import type { ExecutionSummary } from '@gateway/api/execution'
import { durationText } from '../calls/call-labels.ts'

const SECOND_MS = 1_000

/** Duration of an execution; for one in progress, the seconds since its start. */
export function ExecutionDuration({ of: { createdAt, completedAt } }: { of: ExecutionSummary }) {
  const beganMs = Date.parse(createdAt)
  if (completedAt !== null) return durationText(Date.parse(completedAt) - beganMs)
  return <SecondsSince ms={beganMs} />
}

function SecondsSince({ ms }: { ms: number }) {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), SECOND_MS)
    return () => clearInterval(timer)
  }, [])
  // This machine's clock may be behind the server's.
  return `${Math.max(0, Math.floor((now - ms) / SECOND_MS))} s`
}
