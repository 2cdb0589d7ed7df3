import type { ReactNode } from 'react'
import type { Column } from '../parts/data-table.tsx'

/** The column of what can be done to each row, for those who may do it; for others there is none. */
export function actionColumn<Row>(isAllowed: boolean, cell: (row: Row) => ReactNode): Column<Row>[] {
  return isAllowed ? [{ head: 'Actions', cell }] : []
}
