import { useMemo, useState, useId } from 'react'
import { Dialog } from '../../components/dialog.tsx'
import { Moment } from '../../components/values.tsx'
import { useMe, useMemberNames } from '../../api/session.ts'
import { several } from '../../components/usd.ts'
import { compareThree, merged, type Choice, type MergedPart } from '@gateway/flow/compare/merge'
import type { Conflict, useSaving } from '../data/use-saving.ts'
import { canvasModel } from '../core/canvas-model.ts'
import { placed } from '../core/placement.ts'
import { withOwnIds } from '../core/own-ids.ts'
import { useSession } from '../state/open-editor.ts'
import type { Unit } from '@gateway/flow/compare/graph-units'
import { unitText } from '@gateway/flow/compare/difference'

/**
 * Resolves a conflict with a revision saved in the meantime. Shows base, theirs and mine side by side for each node.
 * Changes of one side are taken over; for changes of both, the user picks one. Nothing is saved or lost before that.
 */
export function ConflictDialog({ saving, theirs }: { saving: ReturnType<typeof useSaving>; theirs: Conflict }) {
  const { model, products } = useSession()
  const { graph: mine } = model
  const { id: user } = useMe()
  const nameOf = useMemberNames()
  const { base } = saving
  const { parts, renamed } = useMemo(() => {
    const of = { base: base.graph, theirs: theirs.graph, mine }
    // After a save whose answer was lost, theirs has this user's own new nodes, which may have changed since.
    const { graph, renamed } = theirs.by === user ? { graph: mine } : withOwnIds(of)
    return { parts: compareThree(of.base, of.theirs, graph), renamed }
  }, [base, theirs, mine, user])
  const [choices, setChoices] = useState<ReadonlyMap<string, Choice>>(new Map())
  const changed = parts.filter(({ outcome }) => outcome !== 'unchanged')
  const open = changed.filter(({ key, outcome }) => outcome === 'conflict' && !choices.has(key))
  return (
    <Dialog title={`Revision ${theirs.number} was saved in the meantime`} onClose={saving.closeConflict}>
      <p>
        Saved by {nameOf(theirs.by)}, <Moment iso={theirs.at} to="second" />. Your version is based on revision{' '}
        {base.number}. Changes by only one of you are kept. Where both of you changed the same part, choose one.
      </p>
      <div className="conflict" role="table" aria-label="Differences">
        <div role="row" className="conflict-row head-row">
          <span role="columnheader">Revision {base.number}</span>
          <span role="columnheader">Theirs, {theirs.number}</span>
          <span role="columnheader">Mine</span>
        </div>
        {changed.map((part) => (
          <ConflictPart
            key={part.key}
            part={part}
            choice={choices.get(part.key) ?? null}
            onChoose={(choice) => setChoices(new Map([...choices, [part.key, choice]]))}
          />
        ))}
      </div>
      <div className="buttons">
        <button
          type="button"
          className="button main"
          disabled={open.length > 0 || saving.doing !== null}
          onClick={() => void saving.resolve(placed(canvasModel(merged(parts, choices), products)), renamed)}
        >
          Save merged flow
        </button>
        <button type="button" className="button" onClick={saving.closeConflict}>
          Back to my version
        </button>
        {open.length > 0 && <span className="soft">{several(open.length, 'choice')} to make</span>}
      </div>
    </Dialog>
  )
}

const outcomes = { mine: 'Changed by you', theirs: 'Changed by others', both: 'Same change by both' } as const

/** One part in three columns. Selecting a column resolves a conflict. */
function ConflictPart({
  part,
  choice,
  onChoose,
}: {
  part: MergedPart
  choice: Choice | null
  onChoose: (choice: Choice) => void
}) {
  const name = useId()
  const { key, base, theirs, mine, outcome } = part
  const taken = outcome === 'conflict' ? choice : outcome === 'both' ? 'mine' : outcome
  const title = key.replace(/^node /, '')
  const side = (of: Choice, unit: Unit | null) => (
    <div role="cell" className={taken === of ? 'taken' : ''}>
      {outcome === 'conflict' && (
        <label className="choice">
          <input
            type="radio"
            name={name}
            checked={choice === of}
            onChange={() => onChoose(of)}
            aria-label={`${title}: ${of}`}
          />
          {of === 'mine' ? 'Keep mine' : 'Use theirs'}
        </label>
      )}
      <pre>{unitText(unit)}</pre>
    </div>
  )
  return (
    <div role="rowgroup">
      <h3 className="conflict-title">
        {title}
        <small className="soft">
          {' '}
          {outcome === 'conflict' ? 'Changed by both' : outcome === 'unchanged' ? '' : outcomes[outcome]}
        </small>
      </h3>
      <div role="row" className="conflict-row">
        <div role="cell">
          <pre>{unitText(base)}</pre>
        </div>
        {side('theirs', theirs)}
        {side('mine', mine)}
      </div>
    </div>
  )
}
