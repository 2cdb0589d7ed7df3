import type { Difference } from '@gateway/flow/compare/difference'
import type { Overlay } from '../core/overlay.ts'
import { changeLabels } from './change-labels.ts'

/** Every difference: parts with their changed fields, edges, and nodes that only moved. */
export function ChangeList({
  difference: { parts, moved, runsTheSame },
  overlay,
}: {
  difference: Difference
  overlay: Overlay
}) {
  const edges = [...overlay.edges].filter(([, change]) => change !== 'same')
  const onlyMoved = moved.filter((id) => overlay.nodes.get(id) === 'moved')
  if (parts.length === 0 && edges.length === 0 && onlyMoved.length === 0) return <p>No differences.</p>
  return (
    <>
      {runsTheSame && <p>Only positions or notes changed. The flow runs the same.</p>}
      <ul className="change-list" aria-label="All differences">
        {parts.map(({ key, change, fields }) => (
          <li key={key} data-change={change}>
            <strong>{key}</strong> {changeLabels[change]}
            {change === 'changed' && <span className="soft">: {fields.join(', ')}</span>}
          </li>
        ))}
        {edges.map(([key, change]) => (
          <li key={key} data-change={change}>
            <strong>edge {(JSON.parse(key) as string[]).join(' to ')}</strong> {changeLabels[change]}
          </li>
        ))}
        {onlyMoved.map((id) => (
          <li key={id} data-change="moved">
            <strong>node {id}</strong> {changeLabels.moved}
          </li>
        ))}
      </ul>
    </>
  )
}
