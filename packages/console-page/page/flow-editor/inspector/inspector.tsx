import { useSelection, useSession } from '../session.ts'
import { several } from '../../pure/usd.ts'
import { EdgeRecordView, NodeForm } from '../lazy.ts'
import { ContractForm } from './contract-form.tsx'

/** Form for the selection. Without a selection, it shows the contract of the flow. */
export function Inspector() {
  const { model } = useSession()
  const { selectedNodes, selectedEdges } = useSelection()
  const chosen = model.nodes.filter(({ key }) => selectedNodes.has(key))
  const [only] = chosen
  const edge = selectedEdges.size === 1 ? model.edges.find(({ key }) => selectedEdges.has(key)) : undefined
  return (
    <aside className="flow-inspector" aria-label="Inspector">
      {chosen.length > 1 && (
        <p className="soft">{several(chosen.length, 'node')} selected. Select a single node to edit it.</p>
      )}
      {chosen.length === 1 && <NodeForm key={only!.key} drawn={only!} />}
      {chosen.length === 0 && (
        <div className="stack">
          {edge && <EdgeRecordView key={edge.key} edge={edge.edge} />}
          <p className="soft">
            Select a node to edit it. Without a selection, edit the inputs and outputs of the flow.
          </p>
          <ContractForm side="input" />
          <ContractForm side="output" />
        </div>
      )}
    </aside>
  )
}
