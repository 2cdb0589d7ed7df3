import { useQuery } from '@tanstack/react-query'
import { inUsd } from '../components/usd.ts'
import { Link, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import type { SandboxActivity, SandboxRecord } from '@gateway/api/console/sandboxes'
import { readingAll } from '../api/queries.ts'
import { type ProjectScope, useScope, useProjectName } from '../api/session.ts'
import { executionStateLabels, executionTones } from '../executions/execution-columns.tsx'
import { Screen } from '../frame/screen.tsx'
import { Badge, Moment, Money } from '../components/values.tsx'
import { DataList } from '../components/data-list.tsx'
import { ACTIONS, type Column } from '../components/data-table.tsx'
import { FilterChip, useFilter } from '../components/filters.tsx'
import { EmptyState, Loaded } from '../components/list-states.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { RowActions } from '../components/row-actions.tsx'
import { FLOWS } from './create-flow.ts'
import { ACTIVITY, DuplicateFlowDialog, EditTagsDialog, RenameFlowDialog } from './flow-dialogs.tsx'
import { SpendingDays } from '../usage/spending-days.tsx'
import type { FlowListView } from './flow-views.ts'
import { CreateFlowDialog } from './lazy.ts'

const dialogs = { Rename: RenameFlowDialog, 'Edit tags': EditTagsDialog, Duplicate: DuplicateFlowDialog } as const
const actions = ['Rename', 'Edit tags', 'Duplicate'] as const
type Action = (typeof actions)[number]

/** The flows of a project, with what each did in the last 30 days. */
export function FlowsScreen() {
  const params = useScope()
  const { tag, create } = useSearch({ from: '/projects/$tenant/$project/flows' })
  const filter = useFilter<FlowListView>()
  const [isCreating, setCreating] = useState(create === true)
  const [chosen, setChosen] = useState<{ action: Action; flow: SandboxRecord } | null>(null)
  const flows = useQuery(readingAll(FLOWS, { params }))
  const activity = useQuery(readingAll(ACTIVITY, { params }))
  const { tenant, project } = params
  const columns = useMemo(
    () => flowColumns({ tenant, project }, activity.data ?? [], (action, flow) => setChosen({ action, flow })),
    [tenant, project, activity.data],
  )
  const Chosen = chosen && dialogs[chosen.action]
  const createButton = (
    <button type="button" className="button main" onClick={() => setCreating(true)}>
      Create flow
    </button>
  )
  return (
    <Screen title="Flows" of={useProjectName()} actions={createButton}>
      <RefusalBox error={activity.error} />
      {flows.data && flows.data.length > 0 && (
        <SpendingDays flowNames={new Map(flows.data.map(({ id, name }) => [id, name]))} />
      )}
      <Loaded of={flows} what="flows">
        {(rows) => (
          <DataList
            name="flows"
            caption="Flows"
            columns={columns}
            rows={rows.filter(({ tags }) => tag === undefined || tags.includes(tag))}
            keyOf={({ id }) => id}
            searchBy={({ name, description, tags }) => [name, description, ...tags].join(' ')}
            {...(tagsOf(rows).length + (tag ? 1 : 0) > 0 && {
              filters: (
                <FilterChip
                  name="Tag"
                  value={tag}
                  choices={tagsOf(rows).map((each) => [each, each])}
                  onChange={filter('tag')}
                />
              ),
            })}
            empty={
              tag === undefined ? (
                <EmptyState title="No flows yet" action={createButton}>
                  A flow combines model calls and the steps between them. Callers use it like a single model.
                </EmptyState>
              ) : (
                <EmptyState title="No matching flows">Clear the filter.</EmptyState>
              )
            }
          />
        )}
      </Loaded>
      {isCreating && <CreateFlowDialog onClose={() => setCreating(false)} />}
      {Chosen && <Chosen of={chosen.flow} onClose={() => setChosen(null)} />}
    </Screen>
  )
}

function tagsOf(flows: SandboxRecord[]): string[] {
  return [...new Set(flows.flatMap(({ tags }) => tags))].toSorted((a, b) => a.localeCompare(b))
}

function flowColumns(
  scope: ProjectScope,
  activity: SandboxActivity[],
  onChoose: (action: Action, flow: SandboxRecord) => void,
): Column<SandboxRecord>[] {
  const byFlow = new Map(activity.map((each) => [each.sandbox, each]))
  const of = ({ id }: SandboxRecord) => byFlow.get(id)
  const rateOf = (flow: SandboxRecord) => {
    const { ended = 0, succeeded = 0 } = of(flow) ?? {}
    return ended === 0 ? null : Math.floor((succeeded / ended) * 100)
  }
  return [
    {
      head: 'Name',
      cell: ({ id, name, description }) => (
        <>
          <Link to="/projects/$tenant/$project/flows/$sandbox" params={{ ...scope, sandbox: id }}>
            {name}
          </Link>
          <div className="soft small">{description}</div>
        </>
      ),
      sortBy: ({ name }) => name,
      csv: ({ name }) => name,
    },
    {
      head: 'Tags',
      cell: ({ tags }) => <Tags of={tags} />,
      csv: ({ tags }) => tags.join(', '),
    },
    {
      head: 'State',
      cell: ({ activeRevision, suspended }) =>
        suspended ? (
          <Badge tone="warn" text="Suspended" />
        ) : activeRevision === null ? (
          <Badge tone="plain" text="Not active" />
        ) : (
          <Badge tone="good" text={`Revision ${activeRevision} is active`} />
        ),
    },
    {
      head: 'Last run',
      cell: (flow) => <LastRun of={of(flow)} scope={scope} />,
      sortBy: (flow) => of(flow)?.lastExecution?.createdAt ?? null,
      csv: (flow) => of(flow)?.lastExecution?.createdAt ?? null,
    },
    {
      head: '30-day success rate',
      isNumber: true,
      cell: (flow) => <SuccessRate of={of(flow)} percent={rateOf(flow)} />,
      sortBy: rateOf,
      csv: rateOf,
    },
    {
      head: '30-day spend',
      isNumber: true,
      cell: (flow) => of(flow) && <Money micro={of(flow)!.chargedMicro} />,
      sortBy: (flow) => of(flow)?.chargedMicro ?? null,
      csv: (flow) => inUsd(of(flow)?.chargedMicro ?? null),
    },
    {
      head: 'Created',
      cell: ({ createdAt }) => <Moment iso={createdAt} />,
      sortBy: ({ createdAt }) => createdAt,
      csv: ({ createdAt }) => createdAt,
    },
    {
      head: ACTIONS,
      cell: (flow) => <RowActions acts={actions} of={flow.name} onChoose={(action) => onChoose(action, flow)} />,
    },
  ]
}

function Tags({ of }: { of: string[] }) {
  return (
    <span className="chips">
      {of.map((tag) => (
        <Badge key={tag} tone="plain" text={tag} />
      ))}
    </span>
  )
}

/** Time of the last execution, and its state unless it succeeded. */
function LastRun({ of, scope }: { of: SandboxActivity | undefined; scope: ProjectScope }) {
  if (!of) return null
  if (of.lastExecution === null) return <span className="soft">Never</span>
  const { id, status, createdAt } = of.lastExecution
  return (
    <span className="chips">
      <Link
        to="/projects/$tenant/$project/flows/$sandbox"
        params={{ ...scope, sandbox: of.sandbox }}
        search={{ execution: id }}
      >
        <Moment iso={createdAt} />
      </Link>
      {status !== 'Succeeded' && <Badge tone={executionTones[status]} text={executionStateLabels[status]} />}
    </span>
  )
}

function SuccessRate({ of, percent }: { of: SandboxActivity | undefined; percent: number | null }) {
  if (!of) return null
  if (percent === null) return <span className="soft">–</span>
  return <span title={`${of.succeeded} of ${of.ended} executions that ended`}>{percent}%</span>
}
