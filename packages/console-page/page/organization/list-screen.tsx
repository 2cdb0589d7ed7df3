import type { ReactNode } from 'react'
import { Screen } from '../frame/screen.tsx'
import { DataList } from '../components/data-list.tsx'
import type { Column } from '../components/data-table.tsx'
import { EmptyState, Loaded } from '../components/list-states.tsx'
import { useQuery } from '@tanstack/react-query'
import { useMe, useScope } from '../api/session.ts'
import { readingAll } from '../api/queries.ts'

/** Screen with one list: its rows, an empty state or an error. */
export function ListScreen<Row extends object>({
  title,
  of,
  actions,
  list,
  columns,
  keyOf,
  name,
  searchBy,
  empty,
  children,
}: {
  title: string
  of: string
  actions?: ReactNode
  list: { data: Row[] | undefined; error: unknown }
  columns: Column<Row>[]
  keyOf: (row: Row) => string
  /** Of the list's CSV file. */
  name: string
  searchBy: (row: Row) => string
  empty: { title: string; text: string }
  /** Shown above the list. */
  children?: ReactNode
}) {
  return (
    <Screen title={title} of={of} actions={actions}>
      {children}
      <Loaded of={list} what={title.toLowerCase()}>
        {(rows) => (
          <DataList
            name={name}
            caption={title}
            columns={columns}
            rows={rows}
            keyOf={keyOf}
            searchBy={searchBy}
            empty={<EmptyState title={empty.title}>{empty.text}</EmptyState>}
          />
        )}
      </Loaded>
    </Screen>
  )
}

/** Actions column for users who can act on the rows, or no column. */
export function actionColumn<Row>(isAllowed: boolean, cell: (row: Row) => ReactNode): Column<Row>[] {
  return isAllowed ? [{ head: 'Actions', cell }] : []
}

/** The organization in the URL, and whether the user is its Admin. */
export function useOrganization() {
  const { tenant } = useScope()
  const mine = useMe().tenants.find(({ id }) => id === tenant)
  return { tenant, name: mine?.name ?? 'Organization', isAdmin: mine?.role === 'Admin', teams: mine?.teams ?? [] }
}

export function useMembers() {
  const { tenant } = useScope()
  return useQuery(readingAll('/api/v2/tenants/{tenant}/members', { params: { tenant } }))
}

export function useTeams() {
  const { tenant } = useScope()
  return useQuery(readingAll('/api/v2/tenants/{tenant}/teams', { params: { tenant } }))
}

export function useProjects() {
  const { tenant } = useScope()
  return useQuery(readingAll('/api/v2/tenants/{tenant}/projects', { params: { tenant } }))
}
