import type { ReactNode } from 'react'
import type { Column } from '../components/data-table.tsx'

/** Actions column for users who can act on the rows, or no column. */
export function actionColumn<Row>(isAllowed: boolean, cell: (row: Row) => ReactNode): Column<Row>[] {
  return isAllowed ? [{ head: 'Actions', cell }] : []
}
