import { useState } from 'react'
import type { ProductRecord } from '@gateway/api/console/products'
import { ask } from '../api/ask.ts'
import { faultAt } from '../api/failed.ts'
import { FormDialog } from '../components/dialog.tsx'
import { PriceFields, ProductField, type ProductFieldsProps } from './price-fields.tsx'
import {
  bodyOf,
  draftOf,
  emptyDraft,
  patchOf,
  valueNames,
  modalities,
  type ProductDraft,
  type Tokenizer,
} from './product-draft.ts'
import { useChange } from '../api/queries.ts'
import { kinds } from '../catalogue/catalogue-view.ts'
import { kindLabels } from '../catalogue/product-labels.tsx'
import { Field } from '../components/fields.tsx'
import { Select } from '../components/select.tsx'

/** Form that creates or edits a product. An edit sends the changed fields only. */
export function ProductDialog({ of: product, onClose }: { of: ProductRecord | null; onClose: () => void }) {
  const [draft, setDraft] = useState(() => (product ? draftOf(product) : emptyDraft('chat')))
  const [isTried, setTried] = useState(false)
  const save = useChange(() => send(product, draft), `${draft.name} saved.`, ['/api/v2/products'])
  const faultOf = (param: string) => faultAt(save.error, param)
  const parts = { draft, isNew: product === null, faultOf, onChange: (part: object) => setDraft({ ...draft, ...part }) }
  return (
    <FormDialog
      title={product ? `Edit ${product.name}` : 'Create product'}
      submit={product ? 'Save changes' : 'Create draft'}
      stays
      isFaulty={bodyOf(draft) === null}
      change={save}
      onTry={() => setTried(true)}
      onClose={onClose}
    >
      <div className="product-form">
        <IdentityFields {...parts} />
        <PriceFields {...parts} isTried={isTried} />
        <LimitFields {...parts} />
        <CapabilityFields {...parts} />
        <ProviderFields {...parts} />
      </div>
    </FormDialog>
  )
}

async function send(product: ProductRecord | null, draft: ProductDraft) {
  const body = bodyOf(draft)
  if (!body) throw new Error('A price is missing.')
  if (!product) return ask('POST', '/api/v2/products', { params: {}, body })
  return ask('PATCH', '/api/v2/products/{product}', {
    params: { product: product.id },
    body: patchOf(product, draft) ?? {},
  })
}

/** Providers that calls are routed to, lowest priority number first. */
function ProviderFields({ draft: { providers }, faultOf, onChange }: ProductFieldsProps) {
  const change = (at: number, part: Partial<(typeof providers)[number]>) =>
    onChange({ providers: providers.map((each, n) => (n === at ? { ...each, ...part } : each)) })
  const add = () => onChange({ providers: [...providers, { provider: '', model: '', priority: providers.length + 1 }] })
  return (
    <fieldset>
      <legend>Providers</legend>
      {providers.map(({ provider, model, priority }, n) => (
        <div key={n} className="provider-row" role="group" aria-label={`Provider ${n + 1}`}>
          <ProductField
            label="Provider"
            value={provider}
            fault={faultOf(`providers.${n}.provider`)}
            onChange={(text) => change(n, { provider: text })}
          />
          <ProductField
            label="Provider model"
            value={model}
            fault={faultOf(`providers.${n}.model`)}
            onChange={(text) => change(n, { model: text })}
          />
          <ProductField
            label="Priority"
            isNumber
            value={String(priority)}
            fault={faultOf(`providers.${n}.priority`)}
            onChange={(text) => change(n, { priority: Number(text) || 0 })}
          />
          <button
            type="button"
            className="button small"
            disabled={providers.length === 1}
            aria-label={`Remove provider ${n + 1}`}
            onClick={() => onChange({ providers: providers.filter((_, at) => at !== n) })}
          >
            Remove
          </button>
        </div>
      ))}
      <div className="buttons">
        <button type="button" className="button small" onClick={add}>
          Add provider
        </button>
      </div>
      <p className="soft small">
        Calls go to the provider with the lowest priority number and fall back to the next one on failure. Use the
        provider names from the gateway configuration.
      </p>
    </fieldset>
  )
}

/** Identity of a product. Its ID and kind can't be changed later. */
function IdentityFields({ draft, isNew, faultOf, onChange }: ProductFieldsProps) {
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
              <Select
                {...ids}
                value={draft.kind}
                options={kinds.map((each) => [each, kindLabels[each]])}
                onChange={setKind}
              />
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

/** Modalities of a model and the parameters its callers can set. */
function CapabilityFields({ draft, faultOf, onChange }: ProductFieldsProps) {
  return (
    <>
      {(['input', 'output'] as const).map((side) => (
        <fieldset key={side}>
          <legend>{side === 'input' ? 'Input modalities' : 'Output modalities'}</legend>
          <div className="inline">
            {modalities.map((each) => (
              <label key={each} className="choice">
                <input
                  type="checkbox"
                  checked={draft[side].includes(each)}
                  onChange={({ target }) =>
                    onChange({
                      [side]: modalities.filter((one) => (one === each ? target.checked : draft[side].includes(one))),
                    })
                  }
                />
                {each}
              </label>
            ))}
          </div>
        </fieldset>
      ))}
      {(draft.kind === 'chat' || draft.kind === 'embedding') && (
        <ProductField
          label="Parameters"
          isOptional
          hint="Parameters callers can send, separated by commas."
          value={draft.supportedParameters}
          fault={faultOf('supportedParameters')}
          onChange={(supportedParameters) => onChange({ supportedParameters })}
        />
      )}
      {valueNames(draft.kind).map((name) => (
        <ProductField
          key={name}
          label={`Allowed values for ${name}`}
          isOptional
          hint="Separated by commas. Leave empty if callers can't set it."
          value={draft.values[name]}
          fault={faultOf(`parameterValues.${name}`)}
          onChange={(text) => onChange({ values: { ...draft.values, [name]: text } })}
        />
      ))}
      <label className="choice">
        <input
          type="checkbox"
          checked={draft.isModerated}
          onChange={({ target }) => onChange({ isModerated: target.checked })}
        />
        Moderated by the provider
      </label>
    </>
  )
}

const tokenizers: readonly Tokenizer[] = ['o200k_base', 'cl100k_base']

/** Limits of a call, and how much is reserved for it. */
function LimitFields({ draft, faultOf, onChange }: ProductFieldsProps) {
  return (
    <fieldset>
      <legend>Limits</legend>
      <div className="pair">
        <ProductField
          label="Context window (tokens)"
          isNumber
          value={draft.contextLength}
          fault={faultOf('contextLength')}
          onChange={(contextLength) => onChange({ contextLength })}
        />
        {draft.kind !== 'embedding' && (
          <ProductField
            label="Max output tokens"
            isNumber
            value={draft.maxOutputTokens}
            fault={faultOf('maxOutputTokens')}
            onChange={(maxOutputTokens) => onChange({ maxOutputTokens })}
          />
        )}
        <ProductField
          label="Reservation factor"
          isNumber
          hint="Safety margin on the estimated prompt tokens when reserving, from 1 to 4."
          value={draft.factor}
          fault={faultOf('overheads.factor')}
          onChange={(factor) => onChange({ factor })}
        />
        <Field label="Tokenizer" hint="Counts prompt tokens exactly.">
          {(ids) => (
            <Select
              {...ids}
              value={draft.tokenizer}
              options={[['', 'None'] as const, ...tokenizers.map((each) => [each, each] as const)]}
              onChange={(tokenizer) => onChange({ tokenizer })}
            />
          )}
        </Field>
        {draft.kind !== 'chat' && draft.kind !== 'embedding' && (
          <ProductField
            label="Max output bytes"
            isNumber
            value={draft.maxOutputBytes}
            fault={faultOf('maxOutputBytes')}
            onChange={(maxOutputBytes) => onChange({ maxOutputBytes })}
          />
        )}
        {draft.kind === 'chat' && (
          <ProductField
            label="Max tokens per image"
            isNumber
            isOptional
            hint="Leave empty to refuse images."
            value={draft.maxTokensPerImage}
            fault={faultOf('overheads.maxTokensPerImage')}
            onChange={(maxTokensPerImage) => onChange({ maxTokensPerImage })}
          />
        )}
      </div>
    </fieldset>
  )
}
