import { useState } from 'react'
import type { RevisionRecord, SandboxRecord } from '@gateway/api/console/sandboxes'
import { useBaseUrl } from '../../api/session.ts'
import { exampleInput } from '../../flow-editor/mcp/example-input.ts'
import { flowCode } from '../code/flow-code.ts'
import { CodePanel } from '../parts/code-panel.tsx'

/** What runs the flow, as code. What is not filled in has examples. */
export function FlowCodePart({
  flow,
  revision,
  input,
  maxMicro,
}: {
  flow: SandboxRecord
  revision: RevisionRecord
  input: Record<string, unknown>
  maxMicro: number | null
}) {
  const baseUrl = useBaseUrl()
  const [isOpen, setOpen] = useState(false)
  const given = { ...(JSON.parse(exampleInput(revision.graph.input)) as object), ...input }
  return (
    <details className="card" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>The same as code</summary>
      {isOpen && <CodePanel of={flowCode(baseUrl, flow, { input: given, ...(maxMicro !== null && { maxMicro }) })} />}
      {isOpen && !flow.mcpEnabled && (
        <p className="soft small">
          Clients of MCP are refused until the flow is an MCP tool: see Connect a client in its editor.
        </p>
      )}
    </details>
  )
}
