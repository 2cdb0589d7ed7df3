import { useId } from 'react'
import type { Unit } from '@gateway/flow/compare/graph-units'
import type { Choice, MergedPart } from '@gateway/flow/compare/merge'
import { unitText } from '@gateway/flow/compare/difference'

const outcomes = { mine: 'Changed by you', theirs: 'Changed by others', both: 'Same change by both' } as const

/** One part in three columns. Selecting a column resolves a conflict. */
export function ConflictPart({
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
