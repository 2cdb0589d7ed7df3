import type { ProviderHealth, ProviderRange } from '@gateway/api/console/provider-health'
import { Link, useSearch, useNavigate } from '@tanstack/react-router'
import { durationText } from '../calls/call-columns.tsx'
import { DataList } from '../components/data-list.tsx'
import type { Column } from '../components/data-table.tsx'
import { EmptyState, Loaded } from '../components/list-states.tsx'
import { count } from '../components/usd.ts'
import { Badge } from '../components/values.tsx'
import { OperatorScreen } from './operator-screen.tsx'
import type { ProvidersView } from './operator-views.ts'
import { credentialText, errorRate, errorRateText, providerState, rangeLabels } from './provider-labels.ts'
import { useProviders } from './use-providers.ts'
import { Select } from '../components/select.tsx'

/** Providers with their error rate, latency, fallbacks, credential and circuit breakers. */
export function ProvidersScreen() {
  const view = useSearch({ from: '/operator/providers' })
  const providers = useProviders(view)
  return (
    <OperatorScreen title="Providers" actions={<RangeChoice {...view} />}>
      <Loaded of={providers} what="providers">
        {({ data }) => (
          <DataList
            name="providers"
            caption="Providers"
            columns={columnsOf(view)}
            rows={data}
            keyOf={({ provider }) => provider}
            empty={
              <EmptyState title="No providers yet">
                Providers are configured in the variable PROVIDERS of gateways and workers. They appear here within
                seconds of their start.
              </EmptyState>
            }
          />
        )}
      </Loaded>
      <p className="soft small">
        Attempts are counted: a call that is retried counts twice. Latency is to the first chunk of a stream, or to the
        whole response.
      </p>
    </OperatorScreen>
  )
}

function columnsOf(view: ProvidersView): Column<ProviderHealth>[] {
  return [
    {
      head: 'Provider',
      sortBy: ({ provider }) => provider,
      csv: ({ provider }) => provider,
      cell: ({ provider, kind }) => (
        <>
          <Link to="/operator/providers/$provider" params={{ provider }} search={view}>
            {provider}
          </Link>
          {kind !== null && <div className="soft small">{kind}</div>}
        </>
      ),
    },
    { head: 'State', cell: (row) => <Badge {...providerState(row)} />, csv: (row) => providerState(row).text },
    ...figureColumns<ProviderHealth>(),
    {
      head: 'Credential',
      cell: ({ processes }) => credentialText(processes),
      csv: ({ processes }) => credentialText(processes),
    },
  ]
}

type Figures = Pick<ProviderHealth, 'calls' | 'failed' | 'rejected' | 'fallbacks' | 'p50Ms' | 'p95Ms'>

/** What was counted of a provider, or of one of its deployments. */
export function figureColumns<Row extends Figures>(): Column<Row>[] {
  return [
    figure('Calls', ({ calls }) => calls, count),
    {
      head: 'Error rate',
      isNumber: true,
      sortBy: errorRate,
      csv: errorRate,
      cell: (row) => (
        <span title={`${count(row.failed)} failed; ${count(row.rejected)} requests at fault aren't counted`}>
          {errorRateText(row)}
        </span>
      ),
    },
    figure('p50', ({ p50Ms }) => p50Ms, durationText),
    figure('p95', ({ p95Ms }) => p95Ms, durationText),
    figure('Fallbacks', ({ fallbacks }) => fallbacks, count),
  ]
}

function figure<Row>(head: string, of: (row: Row) => number | null, format: (value: number) => string): Column<Row> {
  return {
    head,
    isNumber: true,
    sortBy: of,
    csv: of,
    cell(row) {
      const value = of(row)
      return value === null ? '–' : format(value)
    },
  }
}

/** Time range of the screens of providers, kept in the URL. */
export function RangeChoice({ range = 'hour' }: ProvidersView) {
  const navigate = useNavigate()
  return (
    <Select
      aria-label="Time"
      value={range}
      options={Object.entries(rangeLabels) as [ProviderRange, string][]}
      onChange={(chosen) => void navigate({ to: '.', search: { range: chosen }, resetScroll: false })}
    />
  )
}
