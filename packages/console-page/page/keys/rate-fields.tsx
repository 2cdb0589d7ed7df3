import { TextField } from '../components/text-field.tsx'
import { rateNames, type RateDraft } from './rate-draft.ts'

/** Requests and tokens per minute, and concurrent calls. */
export function RateFields({ draft, onChange }: { draft: RateDraft; onChange: (part: Partial<RateDraft>) => void }) {
  const field = (name: keyof RateDraft) => (
    <TextField
      label={rateNames[name]}
      type="number"
      min={1}
      placeholder="No limit"
      value={draft[name]}
      onChange={(text) => onChange({ [name]: text })}
    />
  )
  return (
    <>
      <div className="pair">
        {field('requestsPerMinute')}
        {field('tokensPerMinute')}
      </div>
      {field('concurrentCalls')}
    </>
  )
}
