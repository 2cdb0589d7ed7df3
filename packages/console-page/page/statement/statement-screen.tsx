import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { reading } from '../api/queries.ts'
import { useScope, useProjectName } from '../api/session.ts'
import { Screen } from '../frame/screen.tsx'
import { EmptyState, Loaded } from '../components/list-states.tsx'
import { ModelCharges, TagCharges } from './model-charges.tsx'
import { monthFrom, monthLabels } from './statement-month.ts'
import { entriesDifference, type Statement } from '@gateway/api/console/statement'
import { DataTable, type Column } from '../components/data-table.tsx'
import { Money, Moment } from '../components/values.tsx'
import { count, several } from '../components/usd.ts'
import { Copyable } from '../components/copying.tsx'

const PATH = '/api/v2/tenants/{tenant}/projects/{project}/statement'

/** A project's monthly statement, from opening to closing balance. */
export function StatementScreen() {
  const scope = useScope()
  const thisMonth = new Date().toISOString().slice(0, 7)
  const { month = thisMonth } = useSearch({ from: '/projects/$tenant/$project/statement' })
  const statement = useQuery(reading(PATH, { params: scope, query: { month } }))
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
      <Loaded of={statement} what="the statement">
        {(data) => (
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
                {data.tags.some(({ tag }) => tag !== null) && (
                  <section className="stack" aria-label="Charged by tag">
                    <h2>Charged by tag</h2>
                    <TagCharges charges={data.tags} />
                    {data.tagCount > data.tags.length && (
                      <p className="soft small">
                        The table has {count(data.tags.length)} of {count(data.tagCount)} tags, those with the largest
                        charges.
                      </p>
                    )}
                  </section>
                )}
                <BookedDays of={data} />
              </>
            )}
          </>
        )}
      </Loaded>
    </Screen>
  )
}

interface SumLine {
  what: string
  micro: number
}

const dayFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })

const sumColumns: Column<SumLine>[] = [
  { head: 'Balance', cell: ({ what }) => what },
  { head: 'Amount', cell: ({ micro }) => <Money micro={micro} />, isNumber: true },
]

/** Opening balance, changes and closing balance. The lines add up exactly. */
function StatementSum({ of }: { of: Statement }) {
  const lines: SumLine[] = [
    { what: `Opening, ${dayFormat.format(new Date(of.from))}`, micro: of.openingMicro },
    { what: 'Funded', micro: of.fundedMicro },
    { what: 'Corrected', micro: of.correctedMicro },
    { what: `Charged for ${count(of.calls)} calls`, micro: -of.chargedMicro },
    { what: of.final ? `Closing, before ${dayFormat.format(new Date(of.to))}` : 'Now', micro: of.closingMicro },
  ]
  return (
    <section className="card stack" aria-label="Monthly balance">
      <DataTable caption="Monthly balance" columns={sumColumns} rows={lines} keyOf={({ what }) => what} />
      {!of.final && of.reservedMicro > 0 && (
        <p className="soft">
          <Money micro={of.reservedMicro} /> of this is reserved for calls in progress.
        </p>
      )}
    </section>
  )
}

type Day = Statement['days'][number]

const columns: Column<Day>[] = [
  { head: 'Day (UTC)', cell: ({ day }) => day },
  { head: 'Funded', cell: ({ fundedMicro }) => <Money micro={fundedMicro} />, isNumber: true },
  { head: 'Corrected', cell: ({ correctedMicro }) => <Money micro={correctedMicro} />, isNumber: true },
  { head: 'Calls', cell: ({ calls }) => count(calls), isNumber: true },
  { head: 'Charged', cell: ({ chargedMicro }) => <Money micro={chargedMicro} />, isNumber: true },
  { head: 'Closing balance', cell: ({ closingMicro }) => <Money micro={closingMicro} />, isNumber: true },
]

/** Activity by day, with the closing balance of each. */
function BookedDays({ of: { days } }: { of: Statement }) {
  return (
    <section className="stack" aria-label="Daily activity">
      <h2>Daily activity</h2>
      <DataTable caption="Daily activity" columns={columns} rows={days} keyOf={({ day }) => day} />
    </section>
  )
}

/** Reconciliation result of a statement, the last journal check and the seal. */
function StatementProof({ of }: { of: Statement }) {
  return (
    <section className="stack" aria-label="Statement verification">
      {of.reconciled ? (
        <p>
          Wallet, journal, funding and corrections agree as of <Moment iso={of.asOf} to="second" isExact />.
        </p>
      ) : (
        <div className="refusal" role="alert">
          <strong>The ledger does not reconcile for this month.</strong>
          <p>The operators have been notified. Don't rely on this statement until they resolve it.</p>
          <ul>
            {of.differences.map(({ what, expected, found }) => (
              <li key={what}>
                {what}: {differing(what, expected)} expected, {differing(what, found)} found
              </li>
            ))}
          </ul>
        </div>
      )}
      <p className="soft">
        {of.check === null ? (
          "This wallet hasn't been checked against its journal yet."
        ) : (
          <>
            Verified against the journal up to entry {count(of.check.entry)} at{' '}
            <Moment iso={of.check.at} to="second" isExact />:{' '}
            {of.check.findings === 0
              ? 'no findings.'
              : `${several(of.check.findings, 'finding')}, reported to the operators.`}
          </>
        )}
      </p>
      {of.seal !== null && (
        <div className="soft">
          Sealed at entry {count(of.seal.entry)}: <Copyable text={of.seal.sha256} label="Copy seal" />
        </div>
      )}
    </section>
  )
}

function differing(what: string, value: number) {
  return what === entriesDifference ? count(value) : <Money micro={value} />
}
