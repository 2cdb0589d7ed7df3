import { useState, type FormEvent } from 'react'
import type { noticeLimits, NoticeThresholds } from '@gateway/api/console/notices'
import { ask } from '../api/ask.ts'
import { useChange } from '../api/use-change.ts'
import { useScope } from '../api/use-project.ts'
import { Field } from '../components/field.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { microOf, usd } from '../pure/usd.ts'
import { ChosenValues } from './chosen-values.tsx'
import { THRESHOLDS } from './notice-paths.ts'

/** Repeated here, because the browser doesn't load the API schemas. */
const MOST: (typeof noticeLimits)['thresholds'] = 10

/** Form for all alert rules, saved together. */
export function ThresholdForm({ saved, onClose }: { saved: NoticeThresholds; onClose: () => void }) {
  const params = useScope()
  const [draft, setDraft] = useState(saved)
  const [days, setDays] = useState(String(saved.daysLeft ?? ''))
  const save = useChange(
    () => ask('PUT', THRESHOLDS, { params, body: { ...draft, daysLeft: days === '' ? null : Number(days) } }),
    'Alert rules saved.',
    [THRESHOLDS],
  )
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    // Close after the reload: reopened earlier, the form would start from the old values.
    save.mutate(undefined, { onSuccess: onClose })
  }
  return (
    <form className="stack" onSubmit={onSubmit}>
      <ChosenValues
        label="Balance below (USD)"
        hint="Alert when the balance falls below this amount, for example 5."
        wrong="Enter an amount above zero, such as 5 or 0.50."
        most={MOST}
        values={draft.belowMicro}
        read={(text) => microOf(text) || null}
        show={usd}
        onChange={(belowMicro) => setDraft({ ...draft, belowMicro })}
      />
      <ChosenValues
        label="Key spend alert (% of limit)"
        hint="Applies to every key with a limit, once per limit period. For example 80."
        wrong="Enter a whole number from 1 to 100."
        most={MOST}
        values={draft.keyPercents}
        read={percentOf}
        show={(percent) => `${percent}%`}
        onChange={(keyPercents) => setDraft({ ...draft, keyPercents })}
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
      <RefusalBox error={save.error} />
      <div className="buttons">
        <button type="submit" className="button main" disabled={save.isPending}>
          {save.isPending ? 'Saving…' : 'Save alert rules'}
        </button>
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </form>
  )
}

function percentOf(text: string): number | null {
  const percent = /^\s*\d{1,3}\s*%?\s*$/.test(text) ? Number.parseInt(text, 10) : 0
  return percent >= 1 && percent <= 100 ? percent : null
}
