// oxlint-disable-next-line import/no-unassigned-import -- must load first: schemas read it when they are created
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { readingAll } from '../../api/reading.ts'
import { useScope } from '../../api/use-project.ts'
import { readingRevision } from '../../flow-editor/data/use-opened-flow.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { RefusalBox } from '../../components/refusal-box.tsx'
import { Waiting } from '../../components/waiting.tsx'
import { ModelChoice } from '../components/model-choice.tsx'
import { FlowRun } from './flow-run.tsx'
import '../../flow-editor/style/forms.css'

/** Tries the active revision of a flow, as callers get it. */
export function FlowPart({ flow, onFlow }: { flow: string; onFlow: (flow: string) => void }) {
  const params = useScope()
  const { data, error } = useQuery(readingAll('/api/v2/tenants/{tenant}/projects/{project}/sandboxes', { params }))
  const active = data?.filter(({ activeRevision, suspended }) => activeRevision !== null && !suspended) ?? []
  const chosen = active.find(({ id }) => id === flow) ?? active[0]
  const number = chosen?.activeRevision ?? 0
  const revision = useQuery({
    ...readingRevision({ tenant: params.tenant, sandbox: chosen?.id ?? '' }, number),
    enabled: number > 0,
  })
  if (error) return <RefusalBox error={error} />
  if (!data) return <Waiting what="flows" />
  if (!chosen)
    return (
      <EmptyState
        title="No flows to try yet"
        action={
          <Link className="button main" to="/projects/$tenant/$project/flows" params={params}>
            View flows
          </Link>
        }
      >
        Activate a revision of a flow to try it here.
      </EmptyState>
    )
  return (
    <div className="stack">
      <div className="playground-line">
        <ModelChoice label="Flow" models={active} chosen={chosen.id} onChange={(id) => onFlow(id ?? '')} />
      </div>
      {chosen.description !== '' && <p className="soft">{chosen.description}</p>}
      <RefusalBox error={revision.error} />
      {revision.data && <FlowRun key={`${chosen.id} ${number}`} flow={chosen} revision={revision.data} />}
    </div>
  )
}
