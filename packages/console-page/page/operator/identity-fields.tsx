import { kinds } from '../catalogue/catalogue-view.ts'
import { kindLabels } from '../catalogue/product-labels.ts'
import { Field } from '../components/field.tsx'
import type { ProductFieldsProps } from './product-fields-props.ts'
import { emptyDraft } from './product-draft.ts'
import { ProductField } from './product-field.tsx'

/** Identity of a product. Its ID and kind can't be changed later. */
export function IdentityFields({ draft, isNew, faultOf, onChange }: ProductFieldsProps) {
  const { name, ownedBy, description } = draft
  const setKind = (text: string) => {
    const kind = kinds.find((each) => each === text) ?? 'chat'
    const { unit, input, output } = emptyDraft(kind)
    onChange({ kind, unit, input, output })
  }
  return (
    <fieldset>
      <legend className="visually-hidden">Identity</legend>
      {isNew && (
        <div className="pair">
          <ProductField
            label="Model ID"
            hint="The ID callers use, for example acme/swift. Can't be changed later."
            value={draft.id}
            fault={faultOf('id')}
            onChange={(id) => onChange({ id })}
          />
          <Field label="Kind">
            {(ids) => (
              <select {...ids} value={draft.kind} onChange={({ target }) => setKind(target.value)}>
                {kinds.map((each) => (
                  <option key={each} value={each}>
                    {kindLabels[each]}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </div>
      )}
      <div className="pair">
        <ProductField label="Name" value={name} fault={faultOf('name')} onChange={(text) => onChange({ name: text })} />
        <ProductField
          label="Publisher"
          hint="Shown to all users. Don't name a provider here."
          value={ownedBy}
          fault={faultOf('ownedBy')}
          onChange={(text) => onChange({ ownedBy: text })}
        />
      </div>
      <Field label="Description" fault={faultOf('description')}>
        {(ids) => (
          <textarea {...ids} value={description} onChange={({ target }) => onChange({ description: target.value })} />
        )}
      </Field>
    </fieldset>
  )
}
