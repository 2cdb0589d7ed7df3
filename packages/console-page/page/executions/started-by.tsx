import type { ExecutionSummary } from '@gateway/api/execution'
import { useKeyNames, useMemberNames } from '../api/use-names.ts'
import { useMe } from '../api/session.ts'

/** The key or the user, by name where the reader may know it, and whether it continued from an earlier one. */
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
