import { Link } from '@tanstack/react-router'
import type { ExecutionSummary } from '@gateway/api/execution'
import type { ProjectPlace } from '../api/use-project.ts'
import { Badge } from '../parts/badge.tsx'
import type { Column } from '../parts/data-table.tsx'
import { Moment } from '../parts/moment.tsx'
import { BegunBy } from './begun-by.tsx'
import { ExecutionCost } from './execution-cost.tsx'
import { ExecutionDuration } from './execution-duration.tsx'
import { executionStateWords, executionTones } from './execution-words.ts'

/** An execution as a row, wherever those of a project are listed. */
export const executionColumns = (place: ProjectPlace, flowName: (id: string) => string): Column<ExecutionSummary>[] => [
  {
    head: 'Time',
    cell: ({ id, sandbox, createdAt }) => (
      <Link
        to="/projects/$tenant/$project/flows/$sandbox"
        params={{ ...place, sandbox }}
        search={{ execution: id }}
        title="Show it on the canvas"
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
        <Badge tone={executionTones[status]} text={executionStateWords[status]} />
      </span>
    ),
  },
  { head: 'Duration', cell: (execution) => <ExecutionDuration of={execution} />, isNumber: true },
  { head: 'Cost', cell: (execution) => <ExecutionCost of={execution} />, isNumber: true },
  { head: 'Begun by', cell: (execution) => <BegunBy of={execution} /> },
]
