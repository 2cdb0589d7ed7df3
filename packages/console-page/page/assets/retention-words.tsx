import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { readingAll } from '../api/reading.ts'
import { usePlace } from '../api/use-project.ts'
import { several } from '../pure/usd.ts'

/** For how long assets are kept, and where that is set. */
export function RetentionWords() {
  const place = usePlace()
  const { tenant } = place
  const { data } = useQuery(readingAll('/api/v2/tenants/{tenant}/projects', { params: { tenant } }))
  const project = data?.find(({ id }) => id === place.project)
  if (!project) return null
  const { assetRetentionDays: days } = project
  return (
    <>
      {days === null ? 'They are kept until somebody deletes them' : `They are deleted after ${several(days, 'day')}`} (
      <Link to="/projects/$tenant/$project/settings" params={place}>
        settings
      </Link>
      ).
    </>
  )
}
