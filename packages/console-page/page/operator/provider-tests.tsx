import type { ProviderHealth } from '@gateway/api/console/provider-health'
import { durationText } from '../calls/call-columns.tsx'
import { ask } from '../api/ask.ts'
import { useChange } from '../api/queries.ts'
import { DataTable, type Column } from '../components/data-table.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { Select } from '../components/select.tsx'
import { Badge, Moment } from '../components/values.tsx'
import { testState } from './provider-labels.ts'
import { useState } from 'react'

const TESTS = '/api/v2/providers/tests'

/** Sends a minimal call to the model of a route, and shows how the last ones ended. */
export function ProviderTests({ of: { provider, deployments, tests } }: { of: ProviderHealth }) {
  const products = [...new Set(deployments.filter(({ isRouted }) => isRouted).map(({ product }) => product))]
  const [chosen, choose] = useState<string | null>(null)
  const product = chosen !== null && products.includes(chosen) ? chosen : products[0]
  const test = useChange(
    (asked: string) => ask('POST', TESTS, { params: {}, body: { provider, product: asked } }),
    'Test call requested.',
    ['/api/v2/providers'],
  )
  return (
    <section className="stack" aria-label="Test calls">
      <h2>Test calls</h2>
      {product === undefined ? (
        <p className="soft">No product names this provider.</p>
      ) : (
        <div className="chips">
          <Select
            aria-label="Product"
            value={product}
            options={products.map((name) => [name, name] as const)}
            onChange={choose}
          />
          <button type="button" className="button" disabled={test.isPending} onClick={() => test.mutate(product)}>
            Test
          </button>
        </div>
      )}
      <RefusalBox error={test.error} />
      <p className="soft small">
        A gateway or worker sends the shortest request to the model of the product, within seconds. No wallet is
        charged.
      </p>
      {tests.length > 0 && <DataTable caption="Test calls" columns={columns} rows={tests} keyOf={({ id }) => id} />}
    </section>
  )
}

type Test = ProviderHealth['tests'][number]

const columns: Column<Test>[] = [
  { head: 'Time', cell: ({ requestedAt }) => <Moment iso={requestedAt} to="second" /> },
  {
    head: 'Model',
    cell: ({ product, model }) => (
      <>
        <code>{product}</code>
        <div className="soft small">{model}</div>
      </>
    ),
  },
  { head: 'Result', cell: (test) => <Badge {...testState(test)} /> },
  { head: 'Latency', isNumber: true, cell: ({ latencyMs }) => durationText(latencyMs) },
  {
    head: 'Process',
    cell: ({ service }) => (service === null ? '–' : service === 'gateway' ? 'Gateway' : 'Worker'),
  },
]
