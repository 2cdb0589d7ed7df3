import { useQuery } from '@tanstack/react-query'
import { readingAll } from '../api/reading.ts'
import { useKeyNames } from '../api/use-names.ts'
import { useScope } from '../api/use-project.ts'
import type { NameOfGroup } from './usage-table.tsx'
import type { Grouping } from './usage-view.ts'
import { noneLabels } from './usage-labels.ts'

/** Names of the groups of a report, or their IDs if the user can't see the names. */
export function useGroupNames(by: Grouping): NameOfGroup {
  const params = useScope()
  const nameOfKey = useKeyNames()
  const flows = useQuery({
    ...readingAll('/api/v2/tenants/{tenant}/projects/{project}/sandboxes', { params }),
    enabled: by === 'sandbox',
  })
  const names = new Map(flows.data?.map(({ id, name }) => [id, name]))
  return (group) => {
    if (group === null) return noneLabels[by]
    return by === 'key' ? nameOfKey(group) : (names.get(group) ?? group)
  }
}
