import type { FormEvent } from 'react'
import type { ProjectRecord } from '@gateway/api/console/projects'
import { ask } from '../api/ask.ts'
import { useChange } from '../api/use-change.ts'
import { useScope } from '../api/use-project.ts'
import { RefusalBox } from '../components/refusal-box.tsx'
import { useDraft } from '../components/use-draft.ts'
import { draftOfRates, type RateDraft, ratesOfDraft, ratesText } from '../keys/rate-draft.ts'
import { RateFields } from '../keys/rate-fields.tsx'

/** Rate limits of all keys of the project together. */
export function RatesForm({ project: { rates }, isOwner }: { project: ProjectRecord; isOwner: boolean }) {
  const params = useScope()
  const kept = draftOfRates(rates)
  const [requestsPerMinute, setRequests] = useDraft(kept.requestsPerMinute)
  const [tokensPerMinute, setTokens] = useDraft(kept.tokensPerMinute)
  const [concurrentCalls, setConcurrent] = useDraft(kept.concurrentCalls)
  const draft = { requestsPerMinute, tokensPerMinute, concurrentCalls }
  const asked = ratesOfDraft(draft)
  const onChange = (part: Partial<RateDraft>) => {
    if (part.requestsPerMinute !== undefined) setRequests(part.requestsPerMinute)
    if (part.tokensPerMinute !== undefined) setTokens(part.tokensPerMinute)
    if (part.concurrentCalls !== undefined) setConcurrent(part.concurrentCalls)
  }
  const change = useChange(
    () => ask('PATCH', '/api/v2/tenants/{tenant}/projects/{project}', { params, body: { rates: asked } }),
    'Rate limits saved.',
  )
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    change.mutate(undefined)
  }
  return (
    <section className="card stack" aria-label="Rate limits">
      <h2>Rate limits</h2>
      {isOwner ? (
        <form className="stack" onSubmit={onSubmit}>
          <p className="soft">For all keys of the project together, in addition to the limits of each key.</p>
          <RateFields draft={draft} onChange={onChange} />
          <RefusalBox error={change.error} />
          <div className="buttons">
            <button
              type="submit"
              className="button"
              disabled={change.isPending || JSON.stringify(asked) === JSON.stringify(rates)}
            >
              Save
            </button>
          </div>
        </form>
      ) : (
        <p>{ratesText(rates) ?? 'No rate limits.'}</p>
      )}
    </section>
  )
}
