import { memo } from 'react'
import { NodeResizeControl, type NodeProps } from '@xyflow/react'
import { noteColors } from '@gateway/api/graph'
import { changeNotes } from '../core/note-commands.ts'
import { useSession } from '../state/open-editor.ts'
import { useOpenTask } from './canvas-tasks.ts'
import { noteNodeId, type FlowNote } from './drawn-flow.ts'

const LEAST = { width: 120, height: 72 }
const LONGEST = 4_000

/** Sticky note behind the nodes. A double click or Enter edits its text in place. */
export const NoteCard = memo(function NoteCard({ data: { note, isEditing }, selected }: NodeProps<FlowNote>) {
  const { editor } = useSession()
  const openTask = useOpenTask()
  const set = (change: Parameters<typeof changeNotes>[1] extends ReadonlyMap<string, infer Change> ? Change : never) =>
    editor.change((graph) => changeNotes(graph, new Map([[note.id, change]])), `note ${note.id}`)
  return (
    <div
      className={`note note-${note.color}${selected ? ' selected' : ''}`}
      onDoubleClick={() => openTask({ task: 'note', id: note.id })}
    >
      {isEditing ? (
        <textarea
          className="nodrag nowheel"
          aria-label="Text of the note"
          maxLength={LONGEST}
          value={note.text}
          ref={(field) => field?.focus()}
          onChange={({ target }) => set({ text: target.value })}
          onBlur={() => openTask(null)}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return
            event.stopPropagation()
            document.querySelector<HTMLElement>(`[data-id="${CSS.escape(noteNodeId(note.id))}"]`)?.focus()
          }}
        />
      ) : (
        <p>{note.text || <span className="soft">Double-click or press Enter to write.</span>}</p>
      )}
      {selected && (
        <>
          <div className="note-colors nodrag" role="group" aria-label="Color of the note">
            {noteColors.map((color) => (
              <button
                key={color}
                type="button"
                className={`note-${color}`}
                aria-label={color}
                aria-pressed={note.color === color}
                onClick={() => set({ color })}
              />
            ))}
          </div>
          <NodeResizeControl position="bottom-right" minWidth={LEAST.width} minHeight={LEAST.height} />
        </>
      )}
    </div>
  )
})
