import { useState } from 'react'
import { useQueryClient } from '@tanstack/react-query'
import type { noticeLimits, NoticeThresholds } from '@gateway/api/console/notices'
import { ask } from '../api/ask.ts'
import { reading, useChange } from '../api/queries.ts'
import { useScope } from '../api/session.ts'
import { FormDialog, useInputMark } from '../components/dialog.tsx'
import { changesOver, useDraft, useListDraft } from '../components/draft.ts'
import { Field } from '../components/fields.tsx'
import { microOf, usd } from '../components/usd.ts'
import { THRESHOLDS } from './notice-link.tsx'
import { Icon } from '../components/icon.tsx'

/** Repeated here, because the browser doesn't load the API schemas. */
const MOST: (typeof noticeLimits)['thresholds'] = 10

/** Edits all alert rules, which are saved together. */
export function ThresholdDialog({ saved, onClose }: { saved: NoticeThresholds; onClose: () => void }) {
  const params = useScope()
  const [belowMicro, setBelowMicro] = useListDraft(saved.belowMicro)
  const [keyPercents, setKeyPercents] = useListDraft(saved.keyPercents)
  const [days, setDays] = useDraft(String(saved.daysLeft ?? ''))
  const daysLeft = days === '' ? null : Number(days)
  const client = useQueryClient()
  const save = useChange(
    async () => {
      const latest = await client.fetchQuery(reading(THRESHOLDS, { params }))
      return ask('PUT', THRESHOLDS, { params, body: changesOver(latest, saved, { belowMicro, keyPercents, daysLeft }) })
    },
    'Alert rules saved.',
    [THRESHOLDS],
  )
  return (
    // Closes after the reload: reopened earlier, the form would start from the old values.
    <FormDialog title="Edit alert rules" submit="Save alert rules" change={save} onClose={onClose}>
      <ChosenValues
        label="Balance below (USD)"
        hint="Alert when the balance falls below this amount, for example 5."
        wrong="Enter an amount above zero, such as 5 or 0.50."
        most={MOST}
        values={belowMicro}
        read={(text) => microOf(text) || null}
        show={usd}
        onChange={setBelowMicro}
      />
      <ChosenValues
        label="Key spend alert (% of limit)"
        hint="Applies to every key with a limit, once per limit period. For example 80."
        wrong="Enter a whole number from 1 to 100."
        most={MOST}
        values={keyPercents}
        read={percentOf}
        show={(percent) => `${percent}%`}
        onChange={setKeyPercents}
      />
      <Field label="Runway below (days)" hint="Based on the 7-day average. Leave empty for no alert.">
        {(ids) => (
          <input
            {...ids}
            type="number"
            min={1}
            max={365}
            value={days}
            onChange={({ target }) => setDays(target.value)}
          />
        )}
      </Field>
    </FormDialog>
  )
}

function percentOf(text: string): number | null {
  const percent = /^\s*\d{1,3}\s*%?\s*$/.test(text) ? Number.parseInt(text, 10) : 0
  return percent >= 1 && percent <= 100 ? percent : null
}

/** List of numbers shown as chips. Enter adds what is typed, and so does leaving the field: saving takes it along. */
function ChosenValues({
  label,
  hint,
  values,
  most,
  read,
  show,
  wrong,
  onChange,
}: {
  label: string
  hint: string
  values: number[]
  most: number
  /** Parses the typed text; null if invalid. */
  read: (text: string) => number | null
  show: (value: number) => string
  wrong: string
  onChange: (values: number[]) => void
}) {
  const markInput = useInputMark()
  const [text, setText] = useState('')
  const [fault, setFault] = useState<string | null>(null)
  const add = () => {
    if (text.trim() === '') return
    const value = read(text)
    if (value === null) return setFault(wrong)
    setText('')
    setFault(null)
    if (!values.includes(value)) onChange([...values, value].toSorted((one, other) => other - one))
  }
  const remove = (value: number) => {
    markInput()
    onChange(values.filter((each) => each !== value))
  }
  const isFull = values.length >= most
  return (
    <div className="stack tight">
      <Field label={label} hint={isFull ? `Maximum of ${most} reached.` : hint} fault={fault}>
        {(ids) => (
          <div className="with-button">
            <input
              {...ids}
              inputMode="decimal"
              autoComplete="off"
              disabled={isFull}
              value={text}
              ref={(input) => input?.setCustomValidity(text.trim() !== '' && read(text) === null ? wrong : '')}
              onChange={({ target }) => setText(target.value)}
              onBlur={add}
              onKeyDown={(event) => {
                if (event.key !== 'Enter') return
                event.preventDefault()
                add()
              }}
            />
            <button type="button" className="button" disabled={isFull} aria-label={`Add: ${label}`} onClick={add}>
              Add
            </button>
          </div>
        )}
      </Field>
      <ul className="chips" aria-label={label}>
        {values.map((value) => (
          <li key={value} className="chip">
            {show(value)}
            <button type="button" onClick={() => remove(value)}>
              <Icon name="close" />
              <span className="visually-hidden">
                Remove {show(value)}: {label}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}
