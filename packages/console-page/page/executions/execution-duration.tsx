import { useEffect, useState } from 'react'
import type { ExecutionSummary } from '@gateway/api/execution'
import { durationText } from '../calls/call-labels.ts'

const SECOND_MS = 1_000

/** From its beginning to its end; of one in progress the seconds until now. */
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
  // The clock of this machine may be behind the one that it began by.
  return `${Math.max(0, Math.floor((now - ms) / SECOND_MS))} s`
}
