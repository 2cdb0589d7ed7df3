import { DataTable, type Column } from '../components/data-table.tsx'
import { Money } from '../components/money.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { count, usd } from '../pure/usd.ts'
import { useSpending, type SpentDay } from './use-spending.ts'

const [WIDTH, HEIGHT, GAP] = [600, 110, 4]

const columns: Column<SpentDay>[] = [
  { head: 'Day (UTC)', cell: ({ day }) => day },
  { head: 'Calls', cell: ({ calls }) => count(calls), isNumber: true },
  { head: 'Charged', cell: ({ chargedMicro }) => <Money micro={chargedMicro} />, isNumber: true },
]

/** Bar chart of the last 30 days' charges, with the data as a table. */
export function SpendingDays() {
  const { days, error, isThere } = useSpending()
  const most = Math.max(1, ...days.map(({ chargedMicro }) => chargedMicro))
  const step = WIDTH / days.length
  const spent = days.filter(({ chargedMicro }) => chargedMicro > 0)
  return (
    <section className="card stack" aria-label="Charged in the last 30 days">
      <h2>Charged in the last 30 days</h2>
      <RefusalBox error={error} />
      <svg
        className="days"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={isThere ? `Charges on ${spent.length} of 30 days, peak ${usd(most)} per day` : 'Loading'}
      >
        <line x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
        {days.map(({ day, chargedMicro }, n) => {
          const height = (chargedMicro / most) * (HEIGHT - 8)
          return (
            <rect key={day} x={n * step} width={step - GAP} y={HEIGHT - height} height={height} rx="2">
              <title>{`${day}: ${usd(chargedMicro)}`}</title>
            </rect>
          )
        })}
      </svg>
      <p className="days-ends soft small">
        <span>{days[0]?.day}</span>
        {spent.length > 0 && (
          <span>
            peak <Money micro={most} /> per day
          </span>
        )}
        <span>{days.at(-1)?.day}</span>
      </p>
      {spent.length > 0 && (
        <details>
          <summary className="soft">Show data</summary>
          <DataTable caption="Charges per day" columns={columns} rows={spent.toReversed()} keyOf={({ day }) => day} />
        </details>
      )}
    </section>
  )
}
