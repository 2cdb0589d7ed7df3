import { useMemo, useState } from 'react'
import type { RevisionRecord } from '@gateway/api/console/sandboxes'
import type { Graph } from '@gateway/api/graph'
import { Dialog } from '../../components/dialog.tsx'
import { Field } from '../../components/field.tsx'
import { differenceOf } from '@gateway/flow/compare/difference'
import { overlayOf } from '../core/overlay.ts'
import { useSession } from '../session.ts'
import { ChangeList } from './change-list.tsx'
import { OverlayCanvas } from './overlay-canvas.tsx'

const ON_CANVAS = 'canvas'

/** Overlays two revisions, or a revision and the current graph, on one canvas and lists every difference. */
export function CompareDialog({
  revisions,
  from: first,
  onClose,
}: {
  revisions: readonly RevisionRecord[]
  from: number
  onClose: () => void
}) {
  const { graph: mine } = useSession().model
  const [from, setFrom] = useState(String(first))
  const [to, setTo] = useState(ON_CANVAS)
  const { difference, overlay } = useMemo(() => {
    const graphOf = (name: string): Graph => revisions.find(({ number }) => String(number) === name)?.graph ?? mine
    const [before, after] = [graphOf(from), graphOf(to)]
    const difference = differenceOf(before, after)
    return { difference, overlay: overlayOf(before, after, difference) }
  }, [revisions, mine, from, to])
  const choice = (label: string, value: string, set: (value: string) => void) => (
    <Field label={label}>
      {(ids) => (
        <select {...ids} value={value} onChange={({ target }) => set(target.value)}>
          <option value={ON_CANVAS}>Current canvas</option>
          {revisions.map(({ number }) => (
            <option key={number} value={String(number)}>
              Revision {number}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
  return (
    <Dialog title="Differences" onClose={onClose}>
      <div className="compare">
        <div className="pair">
          {choice('From', from, setFrom)}
          {choice('To', to, setTo)}
        </div>
        <ChangeList difference={difference} overlay={overlay} />
        <OverlayCanvas key={`${from} ${to}`} overlay={overlay} />
      </div>
      <div className="buttons">
        <button type="button" className="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
