import { useQuery } from '@tanstack/react-query'
import type { FundingRecord } from '@gateway/api/console/statement'
import { readingAll } from '../api/reading.ts'
import type { ProjectPlace } from '../api/use-project.ts'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { Moment } from '../parts/moment.tsx'
import { Money } from '../parts/money.tsx'
import { RefusalBox } from '../parts/refusal-box.tsx'
import { FUNDINGS } from './wallet-paths.ts'

const columns: Column<FundingRecord>[] = [
  { head: 'Id', cell: ({ id }) => <code>{id}</code> },
  { head: 'Kind', cell: ({ kind }) => (kind === 'funding' ? 'Funding' : 'Correction') },
  { head: 'Amount', cell: ({ micro }) => <Money micro={micro} />, isNumber: true },
  { head: 'Reason', cell: ({ reason }) => reason ?? '' },
  { head: 'By', cell: ({ person }) => <code className="small">{person}</code> },
  { head: 'When', cell: ({ at }) => <Moment iso={at} /> },
]

/** What came in and what was put right, newest first. */
export function FundingList({ place }: { place: ProjectPlace }) {
  const { data, error } = useQuery(readingAll(FUNDINGS, { params: place }))
  return (
    <section className="stack" aria-label="Fundings and corrections">
      <h2>Fundings and corrections</h2>
      <RefusalBox error={error} />
      {data?.length === 0 && (
        <EmptyState title="Nothing has come in yet">
          Fund the wallet, so that calls of the project are admitted.
        </EmptyState>
      )}
      {data && data.length > 0 && (
        <DataTable
          caption="Fundings and corrections, newest first"
          columns={columns}
          rows={data}
          keyOf={({ kind, id }) => `${kind} ${id}`}
        />
      )}
    </section>
  )
}
