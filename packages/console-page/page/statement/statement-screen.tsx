import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { reading } from '../api/reading.ts'
import { useScope, useProjectName } from '../api/use-project.ts'
import { Screen } from '../frame/screen.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { Waiting } from '../components/waiting.tsx'
import { BookedDays } from './booked-days.tsx'
import { ModelCharges } from './model-charges.tsx'
import { StatementProof } from './statement-proof.tsx'
import { StatementSum } from './statement-sum.tsx'
import { monthFrom, monthLabels } from './statement-month.ts'

const PATH = '/api/v2/tenants/{tenant}/projects/{project}/statement'

/** A project's monthly statement, from opening to closing balance. */
export function StatementScreen() {
  const scope = useScope()
  const thisMonth = new Date().toISOString().slice(0, 7)
  const { month = thisMonth } = useSearch({ from: '/projects/$tenant/$project/statement' })
  const { data, error, isPending } = useQuery(reading(PATH, { params: scope, query: { month } }))
  const csv = `${PATH.replace('{tenant}', scope.tenant).replace('{project}', scope.project)}?month=${month}&format=csv`
  const actions = (
    <>
      <Link className="button" to="." search={{ month: monthFrom(month, -1) }}>
        Previous month
      </Link>
      {month < thisMonth && (
        <Link className="button" to="." search={{ month: monthFrom(month, 1) }}>
          Next month
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
    <Screen title={`Statement for ${monthLabels(month)}`} of={useProjectName()} actions={actions}>
      <RefusalBox error={error} />
      {isPending && !error && <Waiting what="the statement" />}
      {data && (
        <>
          <StatementSum of={data} />
          <StatementProof of={data} />
          {data.days.length === 0 ? (
            <EmptyState title="No activity this month">
              The balance changes when funds are added or a call is charged.
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
