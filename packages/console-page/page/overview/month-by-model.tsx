import { Money } from '../components/money.tsx'
import { ModelCharges } from '../statement/model-charges.tsx'
import { useMonth } from './use-spending.ts'

/** This month's charges by model, from the statement. */
export function MonthByModel() {
  const { data } = useMonth()
  return (
    <section className="card stack" aria-label="This month by model">
      <div className="head">
        <h2>This month by model</h2>
        {data && <Money micro={data.chargedMicro} />}
      </div>
      {data && data.charges.length > 0 ? (
        <ModelCharges caption="Charged this month, by model" charges={data.charges} />
      ) : (
        <p className="soft">{data ? 'No charges this month.' : 'Loading…'}</p>
      )}
    </section>
  )
}
