import { useProjectName, useScope, useKeyNames } from '../api/session.ts'
import { Screen } from '../frame/screen.tsx'
import { FirstSteps } from './first-steps.tsx'
import { Money, Moment, Facts } from '../components/values.tsx'
import { ModelCharges } from '../statement/model-charges.tsx'
import { runwayText, useMonth, useSpending, dayOf, daysLeft, endsWithin } from './use-spending.ts'
import { SpendingDays } from '../usage/spending-days.tsx'
import { Link } from '@tanstack/react-router'
import { LatestCalls } from '../calls/latest-calls.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { useQuery } from '@tanstack/react-query'
import { readingAll, reading } from '../api/queries.ts'
import { several, count, usd } from '../components/usd.ts'
import { useState } from 'react'
import type { ExecutionSummary } from '@gateway/api/execution'
import { executionColumns, useFlowNames } from '../executions/execution-columns.tsx'
import { StopExecutionDialog, useRunningNow } from '../executions/running-now.tsx'
import type { LatestRefusals } from '@gateway/api/console/refusals'
import { CopyButton } from '../components/copying.tsx'

/** Balance, spending and everything that needs attention. */
export function OverviewScreen() {
  const name = useProjectName()
  return (
    <Screen title="Overview" of={name}>
      <FirstSteps />
      <WalletFigures />
      <RunningNow />
      <div className="two">
        <SpendingDays />
        <MonthByModel />
      </div>
      <EndingKeys />
      <LatestCalls />
      <RefusedCalls />
    </Screen>
  )
}

/** This month's charges by model, from the statement. */
function MonthByModel() {
  const { data, error } = useMonth()
  return (
    <section className="card stack" aria-label="This month by model">
      <div className="head">
        <h2>This month by model</h2>
        {data && <Money micro={data.chargedMicro} />}
      </div>
      <RefusalBox error={error} />
      {!data && !error && <p className="soft">Loading…</p>}
      {data?.charges.length === 0 && <p className="soft">No charges this month.</p>}
      {data && data.charges.length > 0 && (
        <ModelCharges caption="Charged this month, by model" charges={data.charges} />
      )}
    </section>
  )
}

const SOON_DAYS = 14

/** Active keys that expire within two weeks. */
function EndingKeys() {
  const scope = useScope()
  const { tenant, project } = scope
  const now = new Date()
  const query = { project, state: 'Active' as const, expiresBefore: `${dayOf(now, SOON_DAYS + 1)}T00:00:00Z` }
  const { data = [] } = useQuery(readingAll('/api/v2/tenants/{tenant}/keys', { params: { tenant }, query }))
  const ending = data.filter(({ expiresAt }) => endsWithin(SOON_DAYS, expiresAt, now))
  if (ending.length === 0) return null
  return (
    <section className="notice line" aria-label="Keys expiring soon">
      <div>
        <strong>{several(ending.length, 'key')} expiring within two weeks</strong>
        <ul>
          {ending.map(({ id, name, expiresAt }) => (
            <li key={id}>
              <Link to="/projects/$tenant/$project/keys/$key" params={{ ...scope, key: id }}>
                {name}
              </Link>
              : <Moment iso={expiresAt!} />
            </li>
          ))}
        </ul>
      </div>
      <Link className="button small" to="/projects/$tenant/$project/keys" params={scope}>
        Rotate keys
      </Link>
    </section>
  )
}

/** Executions in progress, polled, each with a stop button. Hidden if there are none. */
function RunningNow() {
  const scope = useScope()
  const { flowName } = useFlowNames()
  const rows = useRunningNow()
  const [stopping, setStopping] = useState<ExecutionSummary | null>(null)
  const columns: Column<ExecutionSummary>[] = [
    ...executionColumns(scope, flowName).filter(({ head }) => SHOWN.has(head)),
    {
      head: 'Action',
      cell: (execution) => (
        <button type="button" className="button small danger" onClick={() => setStopping(execution)}>
          Stop<span className="visually-hidden"> the execution of {flowName(execution.sandbox)}</span>
        </button>
      ),
    },
  ]
  return (
    <>
      {rows.length > 0 && (
        <section className="stack" aria-label="Running now">
          <div className="head">
            <h2>Running now</h2>
            <Link to="/projects/$tenant/$project/executions" params={scope}>
              All executions
            </Link>
          </div>
          <DataTable caption="Executions in progress" columns={columns} rows={rows} keyOf={({ id }) => id} />
        </section>
      )}
      {stopping && (
        <StopExecutionDialog of={stopping} flow={flowName(stopping.sandbox)} onClose={() => setStopping(null)} />
      )}
    </>
  )
}

const SHOWN = new Set(['Time', 'Flow', 'State', 'Duration', 'Cost'])

/** Wallet balance, charges of this month and runway. */
function WalletFigures() {
  const wallet = useQuery(reading('/api/v2/tenants/{tenant}/projects/{project}/wallet', { params: useScope() }))
  const month = useMonth()
  const spending = useSpending()
  if (wallet.error && !wallet.data) return <RefusalBox error={wallet.error} />
  const { availableMicro, reservedMicro } = wallet.data ?? {}
  return (
    <section className="card stack" aria-label="Wallet">
      <Facts
        className="figures"
        of={[
          ['Available', <Amount key="available" micro={availableMicro} />],
          ['Reserved for calls in progress', <Amount key="reserved" micro={reservedMicro} />],
          ['Charged this month', <Amount key="charged" micro={month.data?.chargedMicro} />],
          ['Runway (7-day average)', paceText(availableMicro, spending)],
        ]}
      />
      {availableMicro !== undefined && availableMicro <= 0 && (
        <p className="notice">The wallet is empty. Calls are refused until an operator adds funds.</p>
      )}
      <RefusalBox error={spending.error} />
      {month.data?.reconciled === false && (
        <p className="notice">
          The ledger doesn't match its journal. Ask the operator of the platform to check the statement.
        </p>
      )}
    </section>
  )
}

const [DOLLAR, CENT] = [1_000_000, 10_000]

/**
 * Amount of a headline: from a dollar on to the cent, rounded down, with the exact amount on hover. An ellipsis while
 * loading, so that the layout doesn't shift.
 */
function Amount({ micro }: { micro: number | undefined }) {
  if (micro === undefined) return '…'
  if (micro < DOLLAR || micro % CENT === 0) return <Money micro={micro} />
  return (
    <span className="figure" title={`${usd(micro)}, ${count(micro)} micro-USD`}>
      {usd(micro - (micro % CENT))}
    </span>
  )
}

/** Runway; an ellipsis while the wallet or the charges are loading. */
function paceText(availableMicro: number | undefined, { paceMicro, paceDays }: ReturnType<typeof useSpending>): string {
  if (availableMicro === undefined || paceMicro === undefined) return '…'
  return runwayText(daysLeft(availableMicro, paceMicro, paceDays))
}

type LatestRefusal = LatestRefusals['data'][number]
const LATEST = 5
const EVERY_MS = 5_000

/** Refused calls of the last 24 hours by code, and the latest ones. Hidden if there are none. */
function RefusedCalls() {
  const params = useScope()
  const counts = useQuery({
    ...reading('/api/v2/tenants/{tenant}/projects/{project}/refusals', { params }),
    refetchInterval: EVERY_MS,
  })
  const latest = useQuery({
    ...reading('/api/v2/tenants/{tenant}/projects/{project}/refusals/recent', { params }),
    refetchInterval: EVERY_MS,
  })
  const rows = (latest.data?.data ?? []).slice(0, LATEST)
  const nameOf = useKeyNames(rows.map(({ key }) => key))
  if (!counts.data || counts.data.total === 0) return null
  const columns: Column<LatestRefusal>[] = [
    { head: 'Time', cell: ({ at }) => <Moment iso={at} to="second" /> },
    { head: 'Key', cell: ({ key }) => nameOf(key) },
    { head: 'Model', cell: ({ model }) => (model === null ? '–' : <code>{model}</code>) },
    { head: 'Error', cell: ({ status, code }) => `${status} ${code}` },
    {
      head: 'Request',
      cell: ({ requestId }) => (
        <>
          <code>{requestId}</code> <CopyButton text={requestId} label="Copy request ID" isSmall />
        </>
      ),
    },
  ]
  return (
    <section className="stack" aria-label="Refused calls">
      <div className="head">
        <h2>{several(counts.data.total, 'refused call')} in the last 24 hours</h2>
        <Link to="/projects/$tenant/$project/refusals" params={params}>
          How to fix
        </Link>
      </div>
      <p className="chips">
        {[...countsOf(counts.data.data)].map(([code, count]) => (
          <span key={code} className="badge warn">
            {code} {count}
          </span>
        ))}
      </p>
      <DataTable caption="Latest errors" columns={columns} rows={rows} keyOf={({ requestId }) => requestId} />
    </section>
  )
}

/** Number of refusals by code, summed over all hours. */
function countsOf(rows: { group: string; count: number }[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { group, count } of rows) counts.set(group, (counts.get(group) ?? 0) + count)
  return counts
}
