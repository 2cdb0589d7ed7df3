import { addContractField, type Side } from '../core/contract-commands.ts'
import { useSession } from '../session.ts'
import { ContractFieldRow } from './contract-field-row.tsx'

const words = {
  input: { title: 'Inputs', one: 'Add input' },
  output: { title: 'Outputs', one: 'Add output' },
} as const

/** Inputs or outputs of the contract. Each field is a port of the flow. */
export function ContractForm({ side }: { side: Side }) {
  const { editor, model } = useSession()
  const fields = Object.keys(model.graph[side].properties)
  return (
    <section className="stack" aria-label={words[side].title}>
      <h3>{words[side].title}</h3>
      {fields.length === 0 && <p className="soft small">No fields yet.</p>}
      {fields.map((name, ordinal) => (
        // Keyed by position, so that renaming a field keeps its form mounted.
        // oxlint-disable-next-line react/no-array-index-key
        <ContractFieldRow key={ordinal} side={side} name={name} />
      ))}
      <button
        type="button"
        className="button small"
        onClick={() => editor.change((graph) => addContractField(graph, side).graph)}
      >
        {words[side].one}
      </button>
    </section>
  )
}
