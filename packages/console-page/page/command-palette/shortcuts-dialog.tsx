import { DataTable, type Column } from '../components/data-table.tsx'
import { Dialog } from '../components/dialog.tsx'

interface Shortcut {
  keys: string
  does: string
}

const shortcuts: Shortcut[] = [
  { keys: 'Ctrl K', does: 'Search and commands (Cmd+K on a Mac)' },
  { keys: '?', does: 'These shortcuts' },
  { keys: 'Escape', does: 'Closes a dialog or menu' },
  { keys: '/', does: 'In a flow: adds a node' },
  { keys: 'Ctrl F', does: 'In a flow: finds a node' },
  { keys: 'Ctrl S', does: 'In a flow: saves it' },
  { keys: 'Ctrl Z', does: 'In a flow: undoes; with Shift: redoes' },
]

const columns: Column<Shortcut>[] = [
  { head: 'Keys', cell: ({ keys }) => <kbd>{keys}</kbd> },
  { head: 'Action', cell: ({ does }) => does },
]

/** Keyboard shortcuts of the console. */
export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <DataTable caption="Keyboard shortcuts" columns={columns} rows={shortcuts} keyOf={({ keys }) => keys} />
      <div className="buttons">
        <button type="button" className="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
