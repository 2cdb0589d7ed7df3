import type { ReactNode } from 'react'

export interface Column<Row> {
  head: string
  cell(row: Row): ReactNode
  /** Aligns digits. */
  isNumber?: boolean
}

/**
 * Table whose rows become cards on narrow screens, each value next to its column head. The first column names the row.
 * The roles are explicit because the card styles would remove the implicit ones.
 */
export function DataTable<Row>({
  caption,
  columns,
  rows,
  keyOf,
}: {
  caption: string
  columns: Column<Row>[]
  rows: Row[]
  keyOf(row: Row): string
}) {
  return (
    <div className="table">
      <table role="table">
        <caption className="visually-hidden">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ head, isNumber }) => (
              <th key={head} scope="col" role="columnheader" className={isNumber ? 'number' : ''}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={keyOf(row)} role="row">
              {columns.map((column, n) => (
                <Cell key={column.head} column={column} row={row} isName={n === 0} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Cell<Row>({ column, row, isName }: { column: Column<Row>; row: Row; isName: boolean }) {
  const content = <div>{column.cell(row)}</div>
  const className = column.isNumber ? 'number' : ''
  return isName ? (
    <th scope="row" role="rowheader" data-head={column.head} className={className}>
      {content}
    </th>
  ) : (
    <td role="cell" data-head={column.head} className={className}>
      {content}
    </td>
  )
}
