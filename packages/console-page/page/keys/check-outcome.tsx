import type { AdmissionCheck } from '@gateway/api/admission-check'
import { Badge } from '../parts/badge.tsx'
import { Money } from '../parts/money.tsx'
import { ruleWords } from './key-words.ts'

const outcomes = {
  pass: { text: 'yes', tone: 'good' },
  fail: { text: 'no', tone: 'bad' },
  not_reached: { text: 'not asked', tone: 'plain' },
} as const

/** What an admission would decide, rule by rule. */
export function CheckOutcome({ check: { admitted, boundMicro, rules, refusal } }: { check: AdmissionCheck }) {
  return (
    <div className="stack" role="status">
      {admitted ? (
        <p>
          <strong>It would be admitted.</strong>{' '}
          {boundMicro !== null && (
            <>
              It would reserve <Money micro={boundMicro} />, the most that it can cost.
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
            {ruleWords[rule]} <Badge {...outcomes[outcome]} />
          </li>
        ))}
      </ul>
    </div>
  )
}
