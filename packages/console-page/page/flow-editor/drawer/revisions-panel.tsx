import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import type { RevisionRecord } from '@gateway/api/console/sandboxes'
import { reading } from '../../api/reading.ts'
import { useMemberNames } from '../../api/use-names.ts'
import { useScope } from '../../api/use-project.ts'
import { Badge } from '../../components/badge.tsx'
import { Moment } from '../../components/moment.tsx'
import { RefusalBox } from '../../components/refusal-box.tsx'
import { Waiting } from '../../components/waiting.tsx'
import { CompareDialog } from '../compare/compare-dialog.tsx'
import { differenceOf } from '@gateway/flow/compare/difference'
import { differenceLabels } from '../core/difference-labels.ts'
import type { useSaving } from '../data/use-saving.ts'
import { useSession } from '../session.ts'

/** Revisions, newest first, with their difference from the canvas. Restoring one is a history step. */
export function RevisionsPanel({ saving: { sandbox } }: { saving: ReturnType<typeof useSaving> }) {
  const { tenant } = useScope()
  const nameOf = useMemberNames()
  const { editor, model } = useSession()
  const { data, error, isPending } = useQuery(
    reading('/api/v2/tenants/{tenant}/sandboxes/{sandbox}/revisions', { params: { tenant, sandbox: sandbox.id } }),
  )
  const [compared, setCompared] = useState<number | null>(null)
  if (error) return <RefusalBox error={error} />
  if (isPending) return <Waiting what="revisions" />
  const take = ({ graph }: RevisionRecord) => editor.change(() => graph)
  return (
    <>
      <ul className="flow-revisions">
        {data.data.map((revision) => (
          <li key={revision.number}>
            <strong>Revision {revision.number}</strong>
            <span className="chips">
              {sandbox.activeRevision === revision.number && <Badge tone="good" text="Active" />}
              {revision.problems.length > 0 && <Badge tone="warn" text="Draft" />}
            </span>
            <span className="soft">
              {nameOf(revision.createdBy)}, <Moment iso={revision.createdAt} />
            </span>
            <span className="soft">{differenceLabels(differenceOf(revision.graph, model.graph))}</span>
            <span className="buttons">
              <button type="button" className="button small quiet" onClick={() => setCompared(revision.number)}>
                Compare
              </button>
              <button type="button" className="button small quiet" onClick={() => take(revision)}>
                Restore
              </button>
            </span>
          </li>
        ))}
        {data.data.length === 0 && <li className="soft">No revisions yet.</li>}
      </ul>
      {compared !== null && <CompareDialog revisions={data.data} from={compared} onClose={() => setCompared(null)} />}
    </>
  )
}
