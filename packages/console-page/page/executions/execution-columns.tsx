import { Link } from '@tanstack/react-router'
import type { ExecutionSummary } from '@gateway/api/execution'
import type { ProjectScope } from '../api/use-project.ts'
import { Badge } from '../components/badge.tsx'
import type { Column } from '../components/data-table.tsx'
import { Moment } from '../components/moment.tsx'
import { StartedBy } from './started-by.tsx'
import { ExecutionCost } from './execution-cost.tsx'
import { ExecutionDuration } from './execution-duration.tsx'
import { executionStateLabels, executionTones } from './execution-labels.ts'

/** Columns of execution lists. */
export const executionColumns = (scope: ProjectScope, flowName: (id: string) => string): Column<ExecutionSummary>[] => [
  {
    head: 'Time',
    cell: ({ id, sandbox, createdAt }) => (
      <Link
        to="/projects/$tenant/$project/flows/$sandbox"
        params={{ ...scope, sandbox }}
        search={{ execution: id }}
        title="Show on canvas"
      >
        <Moment iso={createdAt} to="second" />
      </Link>
    ),
  },
  { head: 'Flow', cell: ({ sandbox }) => flowName(sandbox) },
  { head: 'Revision', cell: ({ revision }) => revision, isNumber: true },
  {
    head: 'State',
    cell: ({ status, error }) => (
      <span title={error?.message}>
        <Badge tone={executionTones[status]} text={executionStateLabels[status]} />
      </span>
    ),
  },
  { head: 'Duration', cell: (execution) => <ExecutionDuration of={execution} />, isNumber: true },
  { head: 'Cost', cell: (execution) => <ExecutionCost of={execution} />, isNumber: true },
  { head: 'Started by', cell: (execution) => <StartedBy of={execution} /> },
]
