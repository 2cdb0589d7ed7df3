import { useState } from 'react'
import { McpDialog } from '../lazy.ts'

/** Opens the dialog that connects an MCP client to the flow. */
export function ConnectButton({ sandbox }: { sandbox: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" className="button small quiet" onClick={() => setOpen(true)}>
        Connect client
      </button>
      {isOpen && <McpDialog sandbox={sandbox} onClose={() => setOpen(false)} />}
    </>
  )
}
