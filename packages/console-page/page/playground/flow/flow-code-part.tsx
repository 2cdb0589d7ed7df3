import { useState } from 'react'
import type { RevisionRecord, SandboxRecord } from '@gateway/api/console/sandboxes'
import { useBaseUrl } from '../../api/session.ts'
import { exampleInput } from '../../flow-editor/mcp/example-input.ts'
import { flowCode } from '../code/flow-code.ts'
import { CodePanel } from '../components/code-panel.tsx'

/** Code samples that run the flow. Empty inputs are filled with examples. */
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
      <summary>View code</summary>
      {isOpen && <CodePanel of={flowCode(baseUrl, flow, { input: given, ...(maxMicro !== null && { maxMicro }) })} />}
      {isOpen && !flow.mcpEnabled && (
        <p className="soft small">MCP clients are refused until you expose the flow as an MCP server in its editor.</p>
      )}
    </details>
  )
}
