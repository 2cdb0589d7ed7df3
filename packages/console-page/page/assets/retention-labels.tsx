import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { readingAll } from '../api/reading.ts'
import { useScope } from '../api/use-project.ts'
import { several } from '../pure/usd.ts'

/** Retention period of assets, and where to change it. */
export function RetentionLabels() {
  const scope = useScope()
  const { tenant } = scope
  const { data } = useQuery(readingAll('/api/v2/tenants/{tenant}/projects', { params: { tenant } }))
  const project = data?.find(({ id }) => id === scope.project)
  if (!project) return null
  const { assetRetentionDays: days } = project
  return (
    <>
      {days === null ? 'Kept until deleted' : `Deleted after ${several(days, 'day')}`} (
      <Link to="/projects/$tenant/$project/settings" params={scope}>
        settings
      </Link>
      ).
    </>
  )
}
