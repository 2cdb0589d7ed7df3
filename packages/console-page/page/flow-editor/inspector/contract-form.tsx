import {
  addContractField,
  type Side,
  removeContractField,
  renameContractField,
  setContractField,
  setRequired,
  type FieldSchema,
  schemaOfType,
  shownField,
  shownTypes,
} from '../core/contract-commands.ts'
import { useSession } from '../state/open-editor.ts'
import { Field } from '../../components/fields.tsx'
import { SelectField } from '../../components/select.tsx'
import { NameField } from './fields.tsx'

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
      <h2>{words[side].title}</h2>
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

/** Form for a contract field: name, type, choices, title, and whether it is required. */
function ContractFieldRow({ side, name }: { side: Side; name: string }) {
  const { editor, model } = useSession()
  const schema = model.graph[side].properties[name]!
  const isRequired = model.graph[side].required?.includes(name) ?? false
  const { type, title, options } = shownField(schema)
  const faults = model.problems.filter(
    ({ code, node, port, message }) =>
      code === 'contract_invalid' && node === null && port === name && message.includes(`${side} contract`),
  )
  const set = (schema: FieldSchema) =>
    editor.change((graph) => setContractField(graph, side, name, schema), `${side} ${name}`)
  return (
    <fieldset className="contract-field">
      <legend className="visually-hidden">{`${side} ${name}`}</legend>
      <div className="pair">
        <FieldName side={side} name={name} />
        <SelectField
          label="Type"
          value={type}
          options={[...new Set([...shownTypes, type])].map((each) => [each, each] as const)}
          onChange={(chosen) => set(schemaOfType(schema, chosen))}
        />
      </div>
      {type === 'select' && (
        <Field label="Options (one per line)">
          {(ids) => (
            <textarea
              {...ids}
              rows={3}
              value={options.join('\n')}
              onChange={({ target }) => set({ ...schema, enum: target.value.split('\n') })}
            />
          )}
        </Field>
      )}
      <Field label="Title">
        {(ids) => (
          <input
            {...ids}
            value={title}
            onChange={({ target }) => {
              const { title: _, ...others } = schema
              set(target.value === '' ? others : { ...others, title: target.value })
            }}
          />
        )}
      </Field>
      <div className="head">
        <label className="choice">
          <input
            type="checkbox"
            checked={isRequired}
            onChange={({ target }) => editor.change((graph) => setRequired(graph, side, name, target.checked))}
          />
          Required
        </label>
        <button
          type="button"
          className="button small quiet"
          onClick={() => editor.change((graph) => removeContractField(graph, side, name))}
        >
          Remove {name}
        </button>
      </div>
      {faults.map(({ message, resolution }) => (
        <p key={message} className="fault small">
          {message} {resolution}
        </p>
      ))}
    </fieldset>
  )
}

function FieldName({ side, name }: { side: Side; name: string }) {
  const { editor, model } = useSession()
  const isTaken = (typed: string) => typed !== name && Object.hasOwn(model.graph[side].properties, typed)
  return (
    <NameField
      label="Name"
      name={name}
      faultOf={(typed) => (isTaken(typed) ? 'Another field already has this name.' : null)}
      onDone={(typed) => editor.change((graph) => renameContractField(graph, side, name, typed))}
    />
  )
}
