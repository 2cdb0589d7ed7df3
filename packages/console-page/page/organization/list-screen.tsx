import type { ReactNode } from 'react'
import { Screen } from '../frame/screen.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { Waiting } from '../components/waiting.tsx'

/** Screen with one list: its rows, an empty state or an error. */
export function ListScreen<Row extends object>({
  title,
  of,
  actions,
  list: { data, error },
  columns,
  keyOf,
  empty,
  children,
}: {
  title: string
  of: string
  actions?: ReactNode
  list: { data: Row[] | undefined; error: unknown }
  columns: Column<Row>[]
  keyOf: (row: Row) => string
  empty: { title: string; text: string }
  /** Shown above the list. */
  children?: ReactNode
}) {
  return (
    <Screen title={title} of={of} actions={actions}>
      {children}
      <RefusalBox error={error} />
      {!data && !error && <Waiting what={title.toLowerCase()} />}
      {data?.length === 0 && <EmptyState title={empty.title}>{empty.text}</EmptyState>}
      {data && data.length > 0 && <DataTable caption={title} columns={columns} rows={data} keyOf={keyOf} />}
    </Screen>
  )
}
