import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { reading } from '../api/reading.ts'
import { usePlace, useProjectName } from '../api/use-project.ts'
import { Screen } from '../frame/screen.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { RefusalBox } from '../parts/refusal-box.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { BookedDays } from './booked-days.tsx'
import { ModelCharges } from './model-charges.tsx'
import { StatementProof } from './statement-proof.tsx'
import { StatementSum } from './statement-sum.tsx'
import { monthFrom, monthWords } from './statement-month.ts'

const PATH = '/api/v2/tenants/{tenant}/projects/{project}/statement'

/** A month of the project's money, from its opening balance to its closing one. */
export function StatementScreen() {
  const place = usePlace()
  const thisMonth = new Date().toISOString().slice(0, 7)
  const { month = thisMonth } = useSearch({ from: '/projects/$tenant/$project/statement' })
  const { data, error, isPending } = useQuery(reading(PATH, { params: place, query: { month } }))
  const csv = `${PATH.replace('{tenant}', place.tenant).replace('{project}', place.project)}?month=${month}&format=csv`
  const actions = (
    <>
      <Link className="button" to="." search={{ month: monthFrom(month, -1) }}>
        Month before
      </Link>
      {month < thisMonth && (
        <Link className="button" to="." search={{ month: monthFrom(month, 1) }}>
          Month after
        </Link>
      )}
      <a className="button" href={csv} download>
        CSV
      </a>
      <button type="button" className="button" onClick={() => print()}>
        Print
      </button>
    </>
  )
  return (
    <Screen title={`Statement of ${monthWords(month)}`} of={useProjectName()} actions={actions}>
      <RefusalBox error={error} />
      {isPending && !error && <Waiting what="the statement" />}
      {data && (
        <>
          <StatementSum of={data} />
          <StatementProof of={data} />
          {data.days.length === 0 ? (
            <EmptyState title="Nothing was booked in this month">
              Balances stay as they are until a project is funded or a call is charged.
            </EmptyState>
          ) : (
            <>
              {data.charges.length > 0 && (
                <section className="stack" aria-label="Charged by model">
                  <h2>Charged by model</h2>
                  <ModelCharges caption="Charged by model" charges={data.charges} />
                </section>
              )}
              <BookedDays of={data} />
            </>
          )}
        </>
      )}
    </Screen>
  )
}
