import type { InvocationRecord } from '@gateway/api/console/money'
import { useKeyNames } from '../api/use-names.ts'

/** Credential that a call was made with. */
export function CallerName({ call: { key, execution } }: { call: InvocationRecord }) {
  const nameOf = useKeyNames()
  if (key === null) return <span className="soft">a user, in the console</span>
  return (
    <>
      {nameOf(key)}
      {execution !== null && <span className="soft"> in an execution</span>}
    </>
  )
}
