import { useQuery } from '@tanstack/react-query'
import type { QuotaName, QuotaRecords } from '@gateway/api/quotas'
import { reading } from '../api/reading.ts'
import { useScope } from '../api/use-project.ts'
import { sizeOf } from '../assets/asset-labels.ts'
import { DataTable, type Column } from '../components/data-table.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { Waiting } from '../components/waiting.tsx'
import { count } from '../pure/usd.ts'

type Quota = QuotaRecords['quotas'][number]

const labels: Record<QuotaName, string> = {
  assetBytes: 'Size of assets',
  assets: 'Assets',
  executionBytes: 'Size of executions',
  flows: 'Flows',
  revisions: 'Saved revisions',
  keys: 'Active keys',
  tokens: 'Service tokens',
}

const shown = ({ quota }: Quota, value: number) => (quota.endsWith('Bytes') ? sizeOf(value) : count(value))

const columns: Column<Quota>[] = [
  { head: 'Stored', cell: ({ quota }) => labels[quota] },
  { head: 'Used', cell: (each) => shown(each, each.used) },
  { head: 'Quota', cell: (each) => shown(each, each.limit) },
]

/** What the project stores and may store. */
export function QuotaTable() {
  const path = '/api/v2/tenants/{tenant}/projects/{project}/quotas'
  const { data, error } = useQuery(reading(path, { params: useScope() }))
  return (
    <section className="card stack" aria-label="Quotas">
      <h2>Quotas</h2>
      <p className="soft">Ask the platform operator for a higher quota.</p>
      <RefusalBox error={error} />
      {!data && !error && <Waiting what="quotas" />}
      {data && <DataTable caption="Quotas" columns={columns} rows={data.quotas} keyOf={({ quota }) => quota} />}
    </section>
  )
}
