import type { CanvasNode } from '../core/canvas-model.ts'
import { kindTitle } from '../core/kind-labels.ts'
import { KindIcon } from '../canvas/kind-icon.tsx'
import { NodeRecordView } from '../lazy.ts'
import { ConstantForm } from './constant-form.tsx'
import { ContractForm } from './contract-form.tsx'
import { ExpressionField } from './expression-field.tsx'
import { IdField } from './id-field.tsx'
import { NoteFields } from './note-fields.tsx'
import { NodeProblems } from './node-problems.tsx'
import { ProductForm } from './product-form.tsx'

/** Form for a node. */
export function NodeForm({ drawn }: { drawn: CanvasNode }) {
  const { key, node } = drawn
  const { title, hint } = kindTitle(node.kind)
  return (
    <div className="stack">
      <header className="inspector-head">
        <KindIcon kind={node.kind} />
        <h2>{title}</h2>
        <span className="soft small">{hint}</span>
      </header>
      <NodeRecordView id={node.id} />
      <IdField key={node.id} drawn={drawn} />
      <OwnFields drawn={drawn} />
      <NodeProblems problems={drawn.problems} />
      <NoteFields nodeKey={key} node={node} />
    </div>
  )
}

function OwnFields({ drawn }: { drawn: CanvasNode }) {
  switch (drawn.node.kind) {
    case 'input':
    case 'output':
      return <ContractForm side={drawn.node.kind} />
    case 'template':
      return <ExpressionField drawn={drawn} field="template" label="Text" rows={9} isTemplate />
    case 'expression':
      return <ExpressionField drawn={drawn} field="expression" label="Expression" rows={4} />
    case 'branch':
      return <ExpressionField drawn={drawn} field="condition" label="True when" rows={3} />
    case 'constant':
      return <ConstantForm drawn={drawn} />
    default:
      return drawn.kind?.calls ? <ProductForm drawn={drawn} calls={drawn.kind.calls} /> : null
  }
}
