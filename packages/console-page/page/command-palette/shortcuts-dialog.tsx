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
  { keys: 'Enter', does: 'In the playground: sends the message; with Shift: a new line' },
  { keys: '← →', does: 'In a chart: reads the values; with Shift: selects a range, which Enter opens' },
  { keys: '/', does: 'In a flow: adds a node' },
  { keys: 'Ctrl F', does: 'In a flow: finds a node' },
  { keys: 'Ctrl S', does: 'In a flow: saves it' },
  { keys: 'Ctrl Z', does: 'In a flow: undoes; with Shift: redoes' },
  { keys: 'Ctrl B', does: 'In a flow: opens or closes the node palette' },
  { keys: 'Ctrl J', does: 'In a flow: opens or closes the details below the canvas' },
  { keys: 'Ctrl I', does: 'In a flow: opens or closes the inspector' },
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
