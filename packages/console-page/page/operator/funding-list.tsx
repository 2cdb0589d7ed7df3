import { useQuery } from '@tanstack/react-query'
import type { FundingRecord } from '@gateway/api/console/statement'
import { readingAll } from '../api/reading.ts'
import type { ProjectScope } from '../api/use-project.ts'
import { DataTable, type Column } from '../components/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { Moment } from '../components/moment.tsx'
import { Money } from '../components/money.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { FUNDINGS } from './wallet-paths.ts'

const columns: Column<FundingRecord>[] = [
  { head: 'ID', cell: ({ id }) => <code>{id}</code> },
  { head: 'Kind', cell: ({ kind }) => (kind === 'funding' ? 'Funding' : 'Correction') },
  { head: 'Amount', cell: ({ micro }) => <Money micro={micro} />, isNumber: true },
  { head: 'Reason', cell: ({ reason }) => reason ?? '' },
  { head: 'By', cell: ({ user }) => <code className="small">{user}</code> },
  { head: 'When', cell: ({ at }) => <Moment iso={at} /> },
]

/** Fundings and corrections of a wallet, newest first. */
export function FundingList({ scope }: { scope: ProjectScope }) {
  const { data, error } = useQuery(readingAll(FUNDINGS, { params: scope }))
  return (
    <section className="stack" aria-label="Funding and corrections">
      <h2>Funding and corrections</h2>
      <RefusalBox error={error} />
      {data?.length === 0 && (
        <EmptyState title="No deposits yet">Add funds so that the project's calls are admitted.</EmptyState>
      )}
      {data && data.length > 0 && (
        <DataTable
          caption="Funding and corrections, newest first"
          columns={columns}
          rows={data}
          keyOf={({ kind, id }) => `${kind} ${id}`}
        />
      )}
    </section>
  )
}
