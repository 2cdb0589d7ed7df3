import type { ProviderHealth, ProvidersReport } from '@gateway/api/console/provider-health'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { durationText } from '../calls/call-columns.tsx'
import { Chart } from '../components/chart.tsx'
import { countTick } from '../components/chart-scale.ts'
import { DataTable, type Column } from '../components/data-table.tsx'
import { EmptyState, Loaded } from '../components/list-states.tsx'
import { count } from '../components/usd.ts'
import { Badge, Facts, Moment } from '../components/values.tsx'
import { OperatorScreen } from './operator-screen.tsx'
import {
  attemptSteps,
  circuitLabels,
  credentialLabels,
  errorRateText,
  failureText,
  providerState,
  rangeLabels,
} from './provider-labels.ts'
import { ProviderTests } from './provider-tests.tsx'
import { figureColumns, RangeChoice } from './providers-screen.tsx'
import { useProviders } from './use-providers.ts'

/** One provider: what it answered over time, its deployments, its processes and its last failures. */
export function ProviderScreen() {
  const { provider } = useParams({ from: '/operator/providers/$provider' })
  const view = useSearch({ from: '/operator/providers/$provider' })
  const providers = useProviders(view)
  return (
    <OperatorScreen title={provider} actions={<RangeChoice {...view} />}>
      <p>
        <Link to="/operator/providers" search={view}>
          All providers
        </Link>
      </p>
      <Loaded of={providers} what="the provider">
        {(report) => {
          const found = report.data.find((each) => each.provider === provider)
          return found === undefined ? (
            <EmptyState title="No provider has this name">
              No running process has it configured, no product names it, and it had no calls in this time.
            </EmptyState>
          ) : (
            <ProviderParts of={found} report={report} />
          )
        }}
      </Loaded>
    </OperatorScreen>
  )
}

function ProviderParts({ of, report }: { of: ProviderHealth; report: ProvidersReport }) {
  return (
    <>
      <section className="card stack" aria-label="Health">
        <Facts
          className="figures"
          of={[
            ['State', <Badge key="state" {...providerState(of)} />],
            [
              'Error rate',
              <span key="rate" title={`${count(of.failed)} failed`}>
                {errorRateText(of)}
              </span>,
            ],
            ['Calls', count(of.calls)],
            ['Fallbacks', count(of.fallbacks)],
            ['Latency p50', durationText(of.p50Ms)],
            ['Latency p95', durationText(of.p95Ms)],
          ]}
        />
        {of.calls > 0 && (
          <Chart
            key={report.range}
            label={`Attempts, ${rangeLabels[report.range].toLowerCase()}`}
            series={[
              { name: 'Succeeded', color: 0 },
              { name: 'Failed', color: 3 },
              { name: 'Refused requests', color: 1 },
            ]}
            steps={attemptSteps(report, of.steps)}
            step="hour"
            zone={zone}
            format={count}
            formatTick={countTick}
            height={200}
          />
        )}
        {of.rejected > 0 && (
          <p className="soft small">
            {count(of.rejected)} of the calls were refused because of the request itself. They don't count as failed.
          </p>
        )}
      </section>
      <Part title="Most recent failures" isEmpty={of.failures.length === 0} empty="No failures in this time.">
        <DataTable caption="Most recent failures" columns={failureColumns} rows={of.failures} keyOf={keyOfFailure} />
      </Part>
      <Part title="Products" isEmpty={of.deployments.length === 0} empty="No product names this provider.">
        <DataTable
          caption="Products"
          columns={deploymentColumns}
          rows={of.deployments}
          keyOf={({ model, product }) => `${model} ${product}`}
        />
      </Part>
      <ProviderTests of={of} />
      <Part
        title="Processes"
        isEmpty={of.processes.length === 0}
        empty="No running gateway or worker has this provider in PROVIDERS, so calls of its products fail or go to another one."
      >
        <DataTable
          caption="Processes"
          columns={processColumns}
          rows={of.processes}
          keyOf={({ service, startedAt }) => `${service} ${startedAt}`}
        />
      </Part>
    </>
  )
}

const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone

function Part({
  title,
  isEmpty,
  empty,
  children,
}: {
  title: string
  isEmpty: boolean
  empty: string
  children: ReactNode
}) {
  return (
    <section className="stack" aria-label={title}>
      <h2>{title}</h2>
      {isEmpty ? <p className="soft">{empty}</p> : children}
    </section>
  )
}

type Failure = ProviderHealth['failures'][number]

const keyOfFailure = ({ at, product, model }: Failure): string => `${at} ${product} ${model}`

const failureColumns: Column<Failure>[] = [
  { head: 'Time', cell: ({ at }) => <Moment iso={at} to="second" /> },
  { head: 'Failure', cell: failureText },
  {
    head: 'Model',
    cell: ({ product, model }) => (
      <>
        <code>{product}</code>
        <div className="soft small">{model}</div>
      </>
    ),
  },
  {
    head: 'Call',
    cell: ({ call }) =>
      call === null ? (
        <span className="soft" title="Only users with a role on its project can see it.">
          Not shared with you
        </span>
      ) : (
        <Link
          to="/projects/$tenant/$project/calls/$call"
          params={{ tenant: call.tenant, project: call.project, call: call.invocation }}
        >
          <code>{call.invocation}</code>
        </Link>
      ),
  },
]

type Deployment = ProviderHealth['deployments'][number]

const deploymentColumns: Column<Deployment>[] = [
  {
    head: 'Product',
    cell: ({ product, model, isRouted }) => (
      <>
        <code>{product}</code>
        <div className="soft small">
          {model}
          {!isRouted && ', no longer routed here'}
        </div>
      </>
    ),
    sortBy: ({ product }) => product,
  },
  ...figureColumns<Deployment>(),
]

type Process = ProviderHealth['processes'][number]

const processColumns: Column<Process>[] = [
  { head: 'Process', cell: ({ service }) => (service === 'gateway' ? 'Gateway' : 'Worker') },
  { head: 'Started', cell: ({ startedAt }) => <Moment iso={startedAt} /> },
  {
    head: 'Credential',
    cell: ({ credential, credentialChangedAt, startedAt }) => (
      <>
        {credentialLabels[credential]}
        {credential !== 'none' && (
          <div className="soft small">
            {credentialChangedAt === null ? (
              <>
                read <Moment iso={startedAt} />
              </>
            ) : (
              <>
                changed <Moment iso={credentialChangedAt} />, read <Moment iso={startedAt} />
              </>
            )}
          </div>
        )}
      </>
    ),
  },
  {
    head: 'Circuit breaker',
    cell: ({ circuit, circuitSince }) => (
      <>
        <Badge {...circuitLabels[circuit]} />{' '}
        <span className="soft small">
          since <Moment iso={circuitSince} />
        </span>
      </>
    ),
  },
]
