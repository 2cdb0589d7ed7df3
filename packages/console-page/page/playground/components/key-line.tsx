import { Moment } from '../../components/moment.tsx'
import { Money } from '../../components/money.tsx'
import { RefusalBox } from '../../components/refusal-box.tsx'
import type { UsedKey } from '../data/use-playground-key.ts'

/** The key of this tab, with its spending and expiry. */
export function KeyLine({ of: { key, status, end, forget } }: { of: UsedKey }) {
  if (!key) return null
  const { data } = status
  return (
    <section className="stack" aria-label="Playground key">
      <div className="head small">
        <p className="soft">
          {key.made ? (
            <>
              Key for this tab, <code>{key.made.prefix}…</code>
            </>
          ) : (
            'Pasted key'
          )}
          {data && data.limit && data.spentMicro !== null && (
            <>
              : <Money micro={data.spentMicro} /> of <Money micro={data.limit.micro} /> spent
            </>
          )}
          {data?.expiresAt && (
            <>
              , expires <Moment iso={data.expiresAt} />
            </>
          )}
        </p>
        <div className="buttons">
          {key.made && (
            <button type="button" className="button small danger" disabled={end.isPending} onClick={() => end.mutate()}>
              Revoke key
            </button>
          )}
          {(!key.made || status.error !== null || end.error !== null) && (
            <button type="button" className="button small" onClick={forget}>
              Use another key
            </button>
          )}
        </div>
      </div>
      <RefusalBox error={status.error ?? end.error} />
    </section>
  )
}
