import { useState } from 'react'
import { useMutation } from '@tanstack/react-query'
import type { KeyRecord } from '@gateway/api/console/keys'
import { ask } from '../api/ask.ts'
import { useScope, useProducts } from '../api/session.ts'
import { Dialog } from '../components/dialog.tsx'
import { Field } from '../components/fields.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import type { AdmissionCheck } from '@gateway/api/admission-check'
import { Badge, Money } from '../components/values.tsx'
import { ruleLabels } from './key-labels.ts'
import { Select } from '../components/select.tsx'

/** Checks whether a call would be admitted now and, if not, which rule refuses it. Nothing is reserved. */
export function CheckKeyDialog({ of: { id, name }, onClose }: { of: KeyRecord; onClose: () => void }) {
  const { tenant } = useScope()
  const models = useProducts().products.filter(({ kind }) => kind === 'chat')
  const [chosen, setChosen] = useState('')
  const [maxTokens, setMaxTokens] = useState('')
  const model = chosen || (models[0]?.id ?? '')
  const check = useMutation({
    mutationFn: () =>
      ask('POST', '/api/v2/tenants/{tenant}/keys/{key}/check', {
        params: { tenant, key: id },
        body: { model, ...(maxTokens !== '' && { maxTokens: Number(maxTokens) }) },
      }),
  })
  return (
    <Dialog title={`Test ${name}`} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          check.mutate()
        }}
      >
        <div className="pair">
          <Field label="Model">
            {(ids) => (
              <Select
                {...ids}
                value={model || null}
                options={models.map((each) => [each.id, each.name])}
                onChange={setChosen}
              />
            )}
          </Field>
          <Field label="Max output tokens" hint="Leave empty for the model's default.">
            {(ids) => (
              <input
                {...ids}
                type="number"
                min={1}
                value={maxTokens}
                onChange={(event) => setMaxTokens(event.target.value)}
              />
            )}
          </Field>
        </div>
        <RefusalBox error={check.error} />
        {check.data && <CheckOutcome check={check.data} />}
        <div className="buttons">
          <button type="submit" className="button main" disabled={check.isPending || model === ''}>
            Test
          </button>
          <button type="button" className="button" onClick={onClose}>
            Close
          </button>
        </div>
      </form>
    </Dialog>
  )
}

const outcomes = {
  pass: { text: 'Passed', tone: 'good' },
  fail: { text: 'Failed', tone: 'bad' },
  not_reached: { text: 'Not checked', tone: 'plain' },
} as const

/** The admission decision, rule by rule. */
function CheckOutcome({ check: { admitted, boundMicro, rules, refusal } }: { check: AdmissionCheck }) {
  return (
    <div className="stack" role="status">
      {admitted ? (
        <p>
          <strong>A call would be admitted.</strong>{' '}
          {boundMicro !== null && (
            <>
              It would reserve <Money micro={boundMicro} />, its maximum cost.
            </>
          )}
        </p>
      ) : (
        <div className="refusal">
          <strong>{refusal?.message}</strong>
          <p>{refusal?.resolution}</p>
        </div>
      )}
      <ul className="rules">
        {rules.map(({ rule, outcome }) => (
          <li key={rule} className="head">
            {ruleLabels[rule]} <Badge {...outcomes[outcome]} />
          </li>
        ))}
      </ul>
    </div>
  )
}
