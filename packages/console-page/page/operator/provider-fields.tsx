import type { ProductFieldsProps } from './product-fields-props.ts'
import { ProductField } from './product-field.tsx'

/** Providers that calls are routed to, lowest priority number first. */
export function ProviderFields({ draft: { providers }, faultOf, onChange }: ProductFieldsProps) {
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
