import { useState, type FormEvent } from 'react'
import type { noticeLimits, NoticeThresholds } from '@gateway/api/console/notices'
import { ask } from '../api/ask.ts'
import { useChange } from '../api/use-change.ts'
import { usePlace } from '../api/use-project.ts'
import { Field } from '../parts/field.tsx'
import { RefusalBox } from '../parts/refusal-box.tsx'
import { microOf, usd } from '../pure/usd.ts'
import { ChosenValues } from './chosen-values.tsx'
import { THRESHOLDS } from './notice-paths.ts'

/** Said here, too: the shapes of the contract are not for a browser. */
const MOST: (typeof noticeLimits)['thresholds'] = 10

/** What is to be told, changed as one. */
export function ThresholdForm({ saved, onClose }: { saved: NoticeThresholds; onClose: () => void }) {
  const params = usePlace()
  const [draft, setDraft] = useState(saved)
  const [days, setDays] = useState(String(saved.daysLeft ?? ''))
  const save = useChange(
    () => ask('PUT', THRESHOLDS, { params, body: { ...draft, daysLeft: days === '' ? null : Number(days) } }),
    'The thresholds are saved.',
    [THRESHOLDS],
  )
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    // It closes once they are read again: opened before that, it would begin with the former ones.
    save.mutate(undefined, { onSuccess: onClose })
  }
  return (
    <form className="stack" onSubmit={onSubmit}>
      <ChosenValues
        label="Less remains in the wallet than, in USD"
        hint="What was funded less what was charged. Such as 5."
        wrong="Type an amount above zero, such as 5 or 0.50."
        most={MOST}
        values={draft.belowMicro}
        read={(text) => microOf(text) || null}
        show={usd}
        onChange={(belowMicro) => setDraft({ ...draft, belowMicro })}
      />
      <ChosenValues
        label="A key has spent of its limit, in percent"
        hint="Of every key that has a limit, once in each of its windows. Such as 80."
        wrong="Type a whole number from 1 to 100."
        most={MOST}
        values={draft.keyPercents}
        read={percentOf}
        show={(percent) => `${percent} %`}
        onChange={(keyPercents) => setDraft({ ...draft, keyPercents })}
      />
      <Field label="The wallet lasts for fewer days than" hint="At the pace of seven days. Empty: not told.">
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
          {save.isPending ? 'Saving…' : 'Save the thresholds'}
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
