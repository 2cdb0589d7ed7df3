import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { reading } from '../api/reading.ts'
import { useScope, useProjectName } from '../api/use-project.ts'
import { Screen } from '../frame/screen.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { Money } from '../components/money.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { Waiting } from '../components/waiting.tsx'
import { groupSums } from '../pure/usage-stacks.ts'
import type { Zoom } from '../pure/usage-zoom.ts'
import { UsageChart } from './usage-chart.tsx'
import { UsageChoices } from './usage-choices.tsx'
import { UsageTable } from './usage-table.tsx'
import { usageQueryOf } from './usage-view.ts'
import { groupingLabels } from './usage-labels.ts'
import { useGroupNames } from './use-group-names.ts'

const PATH = '/api/v2/tenants/{tenant}/projects/{project}/usage'
const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone

/** Calls and charges over time and by group. */
export function UsageScreen() {
  const scope = useScope()
  const view = useSearch({ from: '/projects/$tenant/$project/usage' })
  const { by = 'model' } = view
  const query = usageQueryOf(view, new Date(), zone)
  const { data, error, isPending } = useQuery({
    ...reading(PATH, { params: scope, query }),
    placeholderData: keepPreviousData,
  })
  const navigate = useNavigate({ from: '/projects/$tenant/$project/usage' })
  const zoom = (part: Zoom) => void navigate({ search: (before) => ({ ...before, ...part }) })
  const nameOf = useGroupNames(by)
  const groups = groupSums(data?.data ?? [])
  const csv = `${PATH.replace('{tenant}', scope.tenant).replace('{project}', scope.project)}?${new URLSearchParams({ ...query, format: 'csv' })}`
  return (
    <Screen
      title="Usage"
      of={useProjectName()}
      actions={
        <a className="button" href={csv} download>
          CSV
        </a>
      }
    >
      <UsageChoices {...view} />
      <RefusalBox error={error} />
      {isPending && !error && <Waiting what="usage" />}
      {data && groups.length === 0 && (
        <EmptyState title="No usage in this period">Calls appear here as soon as they are charged.</EmptyState>
      )}
      {data && groups.length > 0 && (
        <section className="card stack" aria-label="Usage">
          <p>
            <strong>
              <Money micro={data.totalMicro} />
            </strong>{' '}
            <span className="soft">
              per {data.step} ({data.zone})
            </span>
          </p>
          <UsageChart key={data.from + data.to} report={data} groups={groups} onZoom={zoom} />
          <UsageTable head={groupingLabels[by]} groups={groups} nameOf={nameOf} />
        </section>
      )}
    </Screen>
  )
}
