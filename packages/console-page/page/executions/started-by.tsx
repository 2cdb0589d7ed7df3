import type { ExecutionSummary } from '@gateway/api/execution'
import { useKeyNames, useMemberNames } from '../api/use-names.ts'
import { useMe } from '../api/session.ts'

/** Key or user that started an execution, by name if visible to the reader, and whether it is a rerun. */
export function StartedBy({ of: { key, user, rerunOf } }: { of: ExecutionSummary }) {
  const keyName = useKeyNames()
  const memberName = useMemberNames()
  const { id } = useMe()
  return (
    <>
      {key !== null && keyName(key)}
      {user !== null && (user === id ? 'You' : memberName(user))}
      {rerunOf !== null && <span className="soft"> (rerun)</span>}
    </>
  )
}
