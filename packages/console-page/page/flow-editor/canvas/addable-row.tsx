import type { Addable } from '../core/addable.ts'
import { KindIcon } from './kind-icon.tsx'

export function AddableRow({ addable, onAdd }: { addable: Addable; onAdd: (addable: Addable) => void }) {
  return (
    <li>
      <button type="button" className="flow-choice" onClick={() => onAdd(addable)}>
        <KindIcon kind={addable.kind} />
        <span>
          {addable.title} <small className="soft">{addable.hint}</small>
        </span>
      </button>
    </li>
  )
}
