import { Link } from '@tanstack/react-router'
import type { StoredAssetRecord } from '@gateway/api/console/assets'
import { useMe } from '../api/session.ts'
import { useKeyNames, useMemberNames } from '../api/use-names.ts'

/** Where an asset came from. An execution leads to all that it made. */
export function AssetMaker({ of: { execution, key, createdBy } }: { of: StoredAssetRecord }) {
  const me = useMe()
  const memberName = useMemberNames()
  const keyName = useKeyNames()
  if (execution !== null)
    return (
      <>
        made by{' '}
        <Link to="/projects/$tenant/$project/assets" from="/projects/$tenant/$project/assets" search={{ execution }}>
          an execution
        </Link>
      </>
    )
  if (createdBy !== null) return <>uploaded by {createdBy === me.id ? 'you' : memberName(createdBy)}</>
  return key === null ? null : <>uploaded with the key {keyName(key)}</>
}
