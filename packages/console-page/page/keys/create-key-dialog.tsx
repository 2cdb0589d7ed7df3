import { useState } from 'react'
import type { KeyRecord } from '@gateway/api/console/keys'
import { ask } from '../api/ask.ts'
import { useOnce } from '../api/queries.ts'
import { useFlowNames } from '../executions/execution-columns.tsx'
import { useScope, useProducts } from '../api/session.ts'
import { FormDialog } from '../components/dialog.tsx'
import { TextField, Field } from '../components/fields.tsx'
import { bodyOfDraft, draftFaults, draftOfKey, emptyDraft, type KeyDraft, type Reset } from './new-key.ts'
import { RateFields } from './rate-fields.tsx'
import { KeySecretDialog } from './key-secret-dialog.tsx'
import { useKeyChange, windowLabels } from './key-labels.ts'
import { RefusalBox } from '../components/refusal-box.tsx'
import { Waiting } from '../components/list-states.tsx'
import { several } from '../components/usd.ts'
import { Select } from '../components/select.tsx'

/**
 * Form for a new key, then its secret. Submitting twice creates one key.
 * @param from key whose permissions and limits the form starts with
 */
export function CreateKeyDialog({ from, onClose }: { from?: KeyRecord; onClose: () => void }) {
  const { tenant, project } = useScope()
  const [draft, setDraft] = useState(() => (from ? draftOfKey(from, new Date()) : emptyDraft))
  const [isTried, setTried] = useState(false)
  const once = useOnce()
  const body = bodyOfDraft(project, draft)
  const create = useKeyChange(
    () => ask('POST', '/api/v2/tenants/{tenant}/keys', { params: { tenant }, body, idempotencyKey: once(body) }),
    "Key created. Copy the secret now: it won't be shown again.",
  )
  if (create.data) return <KeySecretDialog made={create.data} onClose={onClose} />
  const faults = draftFaults(draft)
  const isFaulty = Object.keys(faults).length > 0
  const change = (part: Partial<KeyDraft>) => setDraft({ ...draft, ...part })
  return (
    <FormDialog
      title={from ? `Create a narrower copy of ${from.name}` : 'Create key'}
      submit="Create key"
      isFaulty={isFaulty}
      change={create}
      onTry={() => setTried(true)}
      onDone={() => {}}
      onClose={onClose}
    >
      {from && (
        <p className="soft">
          The access, limits and expiry of {from.name} can't change. The copy starts with the same ones: narrow what it
          may do, give out its secret, then revoke {from.name}.
        </p>
      )}
      <TextField
        label="Name"
        hint="What the key is for, for example website or CI."
        required
        maxLength={100}
        value={draft.name}
        onChange={(name) => change({ name })}
      />
      <LimitFields draft={draft} fault={isTried ? faults.limit : undefined} onChange={change} />
      <TextField
        label="Tag"
        hint="Optional. Usage, statements and budgets count the key's calls under it. Can't be changed later."
        maxLength={64}
        pattern="[A-Za-z0-9][A-Za-z0-9._:\/@\-]*"
        title="Use letters, digits and characters of ._:/@-, and begin with a letter or a digit."
        value={draft.tag}
        onChange={(tag) => change({ tag })}
      />
      <RateFields draft={draft.rates} onChange={(part) => change({ rates: { ...draft.rates, ...part } })} />
      <ResourceFields
        chosen={draft.resources}
        fault={isTried ? faults.resources : undefined}
        onChange={(resources) => change({ resources })}
      />
    </FormDialog>
  )
}

/** Spending limit, limit period and lifetime of a key. */
function LimitFields({
  draft: { limit, reset, expiresInDays },
  fault,
  onChange,
}: {
  draft: KeyDraft
  fault: string | undefined
  onChange: (part: Partial<KeyDraft>) => void
}) {
  return (
    <>
      <div className="pair">
        <Field
          label="Spending limit (USD)"
          hint="Leave empty to limit spending by the wallet only."
          fault={fault ?? null}
        >
          {(ids) => (
            <input
              {...ids}
              inputMode="decimal"
              autoComplete="off"
              placeholder="No limit"
              value={limit}
              onChange={({ target }) => onChange({ limit: target.value })}
            />
          )}
        </Field>
        <Field label="Limit period" hint="Periods start at midnight UTC.">
          {(ids) => (
            <Select
              {...ids}
              value={reset}
              options={Object.entries(windowLabels) as [Reset, string][]}
              onChange={(chosen) => onChange({ reset: chosen })}
            />
          )}
        </Field>
      </div>
      <Field label="Expires in (days)" hint="1 to 365.">
        {(ids) => (
          <input
            {...ids}
            type="number"
            required
            min={1}
            max={365}
            value={expiresInDays}
            onChange={({ target }) => onChange({ expiresInDays: target.value })}
          />
        )}
      </Field>
    </>
  )
}

/** Products a key can call: all products of the project, or selected ones. */
function ResourceFields({
  chosen,
  fault,
  onChange,
}: {
  chosen: string[] | null
  fault: string | undefined
  onChange: (chosen: string[] | null) => void
}) {
  const { products, isPending, error } = useProducts()
  const { flowName } = useFlowNames()
  const [given] = useState(chosen ?? []) // of a copied key: also flows
  const [kept, setKept] = useState(given) // selected before all were chosen
  const chooseAll = () => {
    setKept(chosen ?? [])
    onChange(null)
  }
  const others = given.filter((id) => !products.some((product) => product.id === id))
  const choices = [...products, ...others.map((id) => ({ id, name: flowName(id) }))]
  const toggle = (id: string, isChosen: boolean) =>
    onChange(isChosen ? [...(chosen ?? []), id] : (chosen ?? []).filter((each) => each !== id))
  return (
    <fieldset className="stack">
      <legend>Access</legend>
      <label className="choice">
        <input type="radio" name="policy" checked={chosen === null} onChange={chooseAll} />
        <span>
          All products, including those assigned later
          <span className="soft">
            {isPending
              ? ''
              : ` (currently ${several(products.length, 'product')}${listOf(products.map(({ name }) => name))})`}
          </span>
        </span>
      </label>
      <label className="choice">
        <input type="radio" name="policy" checked={chosen !== null} onChange={() => onChange(kept)} />
        Selected products
      </label>
      {chosen !== null && (
        <div className="choices">
          <RefusalBox error={error} />
          {isPending && <Waiting what="products" />}
          {!isPending && choices.length === 0 && (
            <p className="soft">No products assigned yet. Ask an Admin of the organization to assign one.</p>
          )}
          {choices.map(({ id, name }) => (
            <label key={id} className="choice">
              <input
                type="checkbox"
                checked={chosen.includes(id)}
                onChange={({ target }) => toggle(id, target.checked)}
              />
              <span>
                {name} <code className="soft">{id}</code>
              </span>
            </label>
          ))}
        </div>
      )}
      {fault !== undefined && (
        <p className="field" role="alert">
          <span className="fault">{fault}</span>
        </p>
      )}
    </fieldset>
  )
}

const SHOWN = 3
function listOf(names: string[]): string {
  if (names.length === 0) return ''
  return `: ${names.slice(0, SHOWN).join(', ')}${names.length > SHOWN ? ', …' : ''}`
}
