import { Link } from '@tanstack/react-router'
import type { InvocationRecord } from '@gateway/api/console/money'
import type { ProjectScope } from '../api/use-project.ts'
import { Badge } from '../components/badge.tsx'
import type { Column } from '../components/data-table.tsx'
import { Moment } from '../components/moment.tsx'
import { CallCost } from './call-cost.tsx'
import { CallTokens } from './call-tokens.tsx'
import { durationText, stateTones, stateLabels } from './call-labels.ts'
import { CallerName } from './caller-name.tsx'

/** Columns of call lists. */
export const callColumns = (scope: ProjectScope): Column<InvocationRecord>[] => [
  {
    head: 'Time',
    cell: ({ id, createdAt }) => (
      <Link to="/projects/$tenant/$project/calls/$call" params={{ ...scope, call: id }}>
        <Moment iso={createdAt} to="second" />
      </Link>
    ),
  },
  { head: 'Key', cell: (call) => <CallerName call={call} /> },
  { head: 'Model', cell: ({ model }) => <code>{model}</code> },
  { head: 'State', cell: ({ state }) => <Badge tone={stateTones[state]} text={stateLabels[state]} /> },
  { head: 'Tokens', cell: (call) => <CallTokens call={call} />, isNumber: true },
  { head: 'Cost', cell: (call) => <CallCost call={call} />, isNumber: true },
  { head: 'Duration', cell: ({ durationMs }) => durationText(durationMs), isNumber: true },
]
