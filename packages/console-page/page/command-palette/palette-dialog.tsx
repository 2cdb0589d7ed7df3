import { useState } from 'react'
import { CreateFlowDialog } from '../flow-editor/create-flow-dialog.tsx'
import { Dialog } from '../components/dialog.tsx'
import { CommandList } from './command-list.tsx'
import './style/palette.css'

/** Fuzzy search for screens, flows, keys, projects and actions. */
export function PaletteDialog({ onClose }: { onClose: () => void }) {
  const [isCreating, setCreating] = useState(false)
  if (isCreating) return <CreateFlowDialog onClose={onClose} />
  return (
    <Dialog title="Search and commands" onClose={onClose}>
      <CommandList onClose={onClose} onCreateFlow={() => setCreating(true)} />
    </Dialog>
  )
}
