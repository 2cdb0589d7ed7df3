import { useState } from 'react'
import {
  removeContractField,
  renameContractField,
  setContractField,
  setRequired,
  type FieldSchema,
  type Side,
} from '../core/contract-commands.ts'
import { schemaOfType, shownType, shownTypes } from '../core/contract-types.ts'
import { Field } from '../../components/field.tsx'
import { useSession } from '../session.ts'
import { NameField } from './name-field.tsx'

/** Form for a contract field: name, type, choices, title, and whether it is required. */
export function ContractFieldRow({ side, name }: { side: Side; name: string }) {
  const { editor, model } = useSession()
  const schema = model.graph[side].properties[name]!
  const isRequired = model.graph[side].required?.includes(name) ?? false
  const type = shownType(schema)
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
        <FieldName key={name} side={side} name={name} />
        <Field label="Type">
          {(ids) => (
            <select {...ids} value={type} onChange={({ target }) => set(schemaOfType(schema, target.value))}>
              {[...new Set([...shownTypes, type])].map((type) => (
                <option key={type}>{type}</option>
              ))}
            </select>
          )}
        </Field>
      </div>
      {type === 'select' && (
        <Field label="Options (one per line)">
          {(ids) => (
            <textarea
              {...ids}
              rows={3}
              value={(schema.enum ?? []).map(String).join('\n')}
              onChange={({ target }) => set({ ...schema, enum: target.value.split('\n') })}
            />
          )}
        </Field>
      )}
      <Field label="Title">
        {(ids) => (
          <input
            {...ids}
            value={schema.title ?? ''}
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
  const [typed, setTyped] = useState(name)
  const isTaken = typed !== name && Object.hasOwn(model.graph[side].properties, typed)
  const rename = () => editor.change((graph) => renameContractField(graph, side, name, typed))
  const fault = isTaken ? 'Another field already has this name.' : null
  return <NameField label="Name" typed={typed} fault={fault} onType={setTyped} onDone={rename} />
}
