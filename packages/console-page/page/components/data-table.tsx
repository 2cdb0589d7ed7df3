import { useId, useMemo, useState, type MouseEvent as ReactMouseEvent, type ReactNode } from 'react'
import {
  createSortedRowModel,
  rowSortingFeature,
  tableFeatures,
  useTable,
  type Column as TableColumn,
  type ColumnDef,
  type Header,
} from '@tanstack/react-table'
import { Icon } from './icon.tsx'
import { Select } from './select.tsx'
import { several } from './usd.ts'

export interface Column<Row> {
  head: string
  cell(row: Row): ReactNode
  /** Aligns digits. */
  isNumber?: boolean
  /**
   * Lets users sort by this column. Only for tables with all of their rows. null: there is no value, so the row is last
   * in either order.
   */
  sortBy?(row: Row): string | number | null
  /** Order of a list that its service sorts, page by page; null: it is sorted by another column. */
  served?: { order: 'asc' | 'desc' | null; onToggle(): void }
  /** Value in the CSV file. Without one, the file doesn't have the column. */
  csv?(row: Row): string | number | null
}

type RowData = object
const features = tableFeatures({ rowSortingFeature, sortedRowModel: createSortedRowModel() })

export interface TableProps<Row> {
  caption: string
  columns: Column<Row>[]
  rows: Row[]
  keyOf(row: Row): string
  /** Renders 100 rows until the user asks for more: thousands would take seconds. */
  isLong?: boolean
}

const ROWS_PER_PAGE = 100

/** Head of the column of menus and buttons. */
export const ACTIONS = 'Actions'

/**
 * Table whose rows become cards on narrow screens, each value next to its column head, unless each is a name and a
 * figure. Selects above them sort the cards. The first column names the row.
 * If it has a link, a click anywhere on the row follows it. The roles are explicit because the card styles would remove
 * the implicit ones.
 */
export function DataTable<Row>({ caption, columns, rows, keyOf, isLong = false }: TableProps<Row>) {
  const [rendered, setRendered] = useState(isLong ? ROWS_PER_PAGE : Infinity)
  const table = useTable({
    features,
    data: rows as RowData[],
    columns: useMemo(() => columns.map((column) => definition(column as Column<RowData>)), [columns]),
    getRowId: (row) => keyOf(row as Row),
  })
  const byHead = new Map(columns.map((column) => [column.head, column]))
  const left = rows.length - rendered
  const isNarrow = columns.length === 2 && columns[1]!.isNumber
  const sortable = columns.map((of) => ({ of, column: table.getColumn(of.head)! })).filter(isSortable)
  const shown = (
    <div className={isNarrow ? 'table narrow-rows' : 'table'}>
      {!isNarrow && rows.length > 1 && sortable.length > 0 && <CardSort sortable={sortable} />}
      <table role="table">
        <caption className="visually-hidden">{caption}</caption>
        <thead role="rowgroup">
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id} role="row">
              {group.headers.map((header) => (
                <Head key={header.id} header={header} of={byHead.get(header.id)!} />
              ))}
            </tr>
          ))}
        </thead>
        <tbody role="rowgroup">
          {table
            .getRowModel()
            .rows.slice(0, rendered)
            .map(({ id, original }) => (
              <tr key={id} role="row" onClick={followLink}>
                {columns.map((column, n) => (
                  <Cell key={column.head} column={column} row={original as Row} isName={n === 0} />
                ))}
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  )
  if (left <= 0) return shown
  return (
    <>
      {shown}
      <div className="buttons">
        <button type="button" className="button" onClick={() => setRendered(rendered + ROWS_PER_PAGE)}>
          Show more
        </button>
        <span className="soft">{several(left, 'row')} left</span>
      </div>
    </>
  )
}

/** Follows the link that names the row, unless the click was for something in the row or selected text. */
function followLink(event: ReactMouseEvent<HTMLTableRowElement>): void {
  const { target, currentTarget: row, ctrlKey, metaKey, shiftKey } = event
  // An event from a menu of the row comes up to here, although the menu is elsewhere on the page.
  if (!(target instanceof Element) || !row.contains(target) || getSelection()?.type === 'Range') return
  if (target.closest('a, button, input, select, textarea, label, summary')) return
  row
    .querySelector('th a[href]')
    ?.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey }))
}

function definition({ head, sortBy }: Column<RowData>): ColumnDef<typeof features, RowData> {
  return {
    id: head,
    header: head,
    accessorFn: (row) => sortBy?.(row) ?? undefined,
    enableSorting: sortBy !== undefined,
    sortUndefined: 'last',
    sortFn: (a, b, id) => compare(a.getValue<string | number>(id), b.getValue<string | number>(id)),
  }
}

function compare(a: string | number, b: string | number): number {
  return typeof a === 'string' ? a.localeCompare(String(b), 'en', { numeric: true }) : a - Number(b)
}

const directions = { asc: 'ascending', desc: 'descending' } as const

interface Sortable {
  of: Pick<Column<never>, 'served'>
  column: TableColumn<typeof features, RowData>
}

const isSortable = ({ of, column }: Sortable) => of.served !== undefined || column.getCanSort()

const orderOf = ({ of: { served }, column }: Sortable) => (served ? served.order : column.getIsSorted() || null)

/** Sorts cards, which have no column heads. */
function CardSort({ sortable }: { sortable: Sortable[] }) {
  const id = useId()
  const by = sortable.find((each) => orderOf(each) !== null)
  const order = by ? orderOf(by) : null
  const toggle = ({ of: { served }, column }: Sortable, isDescending?: boolean) =>
    served ? served.onToggle() : column.toggleSorting(isDescending)
  return (
    <div className="card-sort">
      <label htmlFor={id}>Sort by</label>
      <Select
        id={id}
        value={by?.column.id ?? null}
        options={sortable.map(({ column }) => [column.id, column.id])}
        onChange={(head) => head !== by?.column.id && toggle(sortable.find(({ column }) => column.id === head)!)}
      />
      {by && order !== null && (
        <Select
          aria-label="Order"
          value={order}
          options={orders}
          onChange={(next) => next !== order && toggle(by, next === 'desc')}
        />
      )}
    </div>
  )
}

const orders = [
  ['asc', 'Ascending'],
  ['desc', 'Descending'],
] as const

function Head<Row>({ header, of }: { header: Header<typeof features, RowData>; of: Column<Row> }) {
  const { column, id: head } = header
  const { served, isNumber } = of
  const sorted = orderOf({ of, column })
  return (
    <th
      scope="col"
      role="columnheader"
      className={isNumber ? 'number' : head === ACTIONS ? 'actions' : ''}
      {...(sorted !== null && { 'aria-sort': directions[sorted] })}
    >
      {served || column.getCanSort() ? (
        <button
          type="button"
          className="sort"
          onClick={() => (served ? served.onToggle() : column.toggleSorting())}
          data-sorted={sorted || undefined}
        >
          {head}
          <Icon name={sorted === 'desc' ? 'down' : 'up'} />
        </button>
      ) : (
        <span className={head === ACTIONS ? 'visually-hidden' : ''}>{head}</span>
      )}
    </th>
  )
}

function Cell<Row>({ column, row, isName }: { column: Column<Row>; row: Row; isName: boolean }) {
  const content = <div>{column.cell(row)}</div>
  const className = column.isNumber ? 'number' : column.head === ACTIONS ? 'actions' : ''
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
