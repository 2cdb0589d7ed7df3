import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { SandboxRecord } from '@gateway/api/console/sandboxes'
import { readingAll } from '../api/queries.ts'
import { useScope, useProjectName } from '../api/session.ts'
import { Screen } from '../frame/screen.tsx'
import { Badge, Moment } from '../components/values.tsx'
import { DataList } from '../components/data-list.tsx'
import type { Column } from '../components/data-table.tsx'
import { EmptyState, Loaded } from '../components/list-states.tsx'
import { CreateFlowDialog } from './create-flow-dialog.tsx'

/** The flows of a project. */
export function FlowsScreen() {
  const params = useScope()
  const [isCreating, setCreating] = useState(false)
  const flows = useQuery(readingAll('/api/v2/tenants/{tenant}/projects/{project}/sandboxes', { params }))
  const createButton = (
    <button type="button" className="button main" onClick={() => setCreating(true)}>
      Create flow
    </button>
  )
  return (
    <Screen title="Flows" of={useProjectName()} actions={createButton}>
      <Loaded of={flows} what="flows">
        {(rows) => (
          <DataList
            name="flows"
            caption="Flows"
            columns={columns}
            rows={rows.toReversed()}
            keyOf={({ id }) => id}
            searchBy={({ name, description }) => `${name} ${description}`}
            empty={
              <EmptyState title="No flows yet" action={createButton}>
                A flow combines model calls and the steps between them. Callers use it like a single model.
              </EmptyState>
            }
          />
        )}
      </Loaded>
      {isCreating && <CreateFlowDialog onClose={() => setCreating(false)} />}
    </Screen>
  )
}

const columns: Column<SandboxRecord>[] = [
  { head: 'Name', cell: (flow) => <FlowLink flow={flow} />, sortBy: ({ name }) => name, csv: ({ name }) => name },
  { head: 'Description', cell: ({ description }) => <span className="soft">{description}</span> },
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
    head: 'Created',
    cell: ({ createdAt }) => <Moment iso={createdAt} />,
    sortBy: ({ createdAt }) => createdAt,
    csv: ({ createdAt }) => createdAt,
  },
]

function FlowLink({ flow: { id, name } }: { flow: SandboxRecord }) {
  const { tenant, project } = useScope()
  return (
    <Link to="/projects/$tenant/$project/flows/$sandbox" params={{ tenant, project, sandbox: id }}>
      {name}
    </Link>
  )
}
