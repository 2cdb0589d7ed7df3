import type { AdmissionCheck } from '@gateway/api/admission-check'
import { Badge } from '../components/badge.tsx'
import { Money } from '../components/money.tsx'
import { ruleLabels } from './key-labels.ts'

const outcomes = {
  pass: { text: 'Passed', tone: 'good' },
  fail: { text: 'Failed', tone: 'bad' },
  not_reached: { text: 'Not checked', tone: 'plain' },
} as const

/** The admission decision, rule by rule. */
export function CheckOutcome({ check: { admitted, boundMicro, rules, refusal } }: { check: AdmissionCheck }) {
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
