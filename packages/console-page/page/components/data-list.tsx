import { useState, type ReactNode } from 'react'
import { ACTIONS, type Column, DataTable, type TableProps } from './data-table.tsx'
import { IconButton } from './icon-button.tsx'
import { EmptyState } from './list-states.tsx'
import { Menu, MenuToggle } from './menu.tsx'
import { searchedRows, tableCsv } from './table-rows.ts'
import { several } from './usd.ts'

/**
 * List with tools above it: filters, choose columns, download what is loaded as CSV, and search, where `searchBy` says
 * what has the words of a row: only for lists with all of their rows.
 * @param name of the CSV file; the chosen columns are remembered under it
 * @param empty shown in place of a table without rows
 * @param csvColumns columns of the CSV file, if they are not those of the table
 * @param hasMore more rows follow on the next page, and are not in the CSV file
 */
export function DataList<Row>({
  name,
  searchBy,
  filters,
  empty = null,
  csvColumns,
  hasMore = false,
  ...table
}: TableProps<Row> & {
  name: string
  searchBy?: (row: Row) => string
  filters?: ReactNode
  empty?: ReactNode
  csvColumns?: Pick<Column<Row>, 'head' | 'csv'>[]
  hasMore?: boolean
}) {
  const [search, setSearch] = useState('')
  const [hidden, setHidden] = useHiddenColumns(name)
  const rows = searchBy ? searchedRows(table.rows, search, searchBy) : table.rows
  const columns = table.columns.filter(({ head }) => !hidden.includes(head))
  if (table.rows.length === 0 && !filters) return empty
  return (
    <div className="stack tight">
      <TableTools
        caption={table.caption}
        heads={table.columns.slice(1).flatMap(({ head }) => (head === ACTIONS ? [] : [head]))}
        hidden={hidden}
        onHide={setHidden}
        search={searchBy ? search : null}
        filters={filters}
        onSearch={setSearch}
        downloadLabel={hasMore ? `Download the ${several(rows.length, 'row')} shown as CSV` : 'Download CSV'}
        onDownload={() => downloadText(`${name}.csv`, 'text/csv', tableCsv(csvColumns ?? table.columns, rows))}
      />
      {table.rows.length === 0 ? (
        empty
      ) : rows.length === 0 ? (
        <EmptyState
          title={`Nothing matches "${search}"`}
          action={
            <button type="button" className="button" onClick={() => setSearch('')}>
              Clear search
            </button>
          }
        >
          Search for other words, or for a part of a word.
        </EmptyState>
      ) : (
        <DataTable {...table} columns={columns} rows={rows} isLong={searchBy !== undefined} />
      )}
    </div>
  )
}

/** Heads of the columns that the user has hidden in this browser. */
function useHiddenColumns(name: string): [hidden: string[], change: (hidden: string[]) => void] {
  const stored = `console-hidden-columns-${name}`
  const [hidden, setHidden] = useState(() => (localStorage.getItem(stored) ?? '').split('\n').filter(Boolean))
  const change = (next: string[]) => {
    localStorage.setItem(stored, next.join('\n'))
    setHidden(next)
  }
  return [hidden, change]
}

function downloadText(name: string, type: string, text: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}

/** Tools above a list. */
function TableTools({
  caption,
  heads,
  hidden,
  onHide,
  search,
  filters,
  onSearch,
  downloadLabel,
  onDownload,
}: {
  caption: string
  /** Columns that can be hidden. */
  heads: string[]
  hidden: string[]
  onHide: (hidden: string[]) => void
  /** null: the list has no search. */
  search: string | null
  filters: ReactNode
  onSearch: (search: string) => void
  downloadLabel: string
  onDownload: () => void
}) {
  return (
    <div className="table-tools" role="group" aria-label={`Tools of the table ${caption}`}>
      {search !== null && (
        <input
          type="search"
          aria-label={`Search ${caption.toLowerCase()}`}
          placeholder="Search"
          value={search}
          onChange={({ target }) => onSearch(target.value)}
        />
      )}
      {filters}
      <span className="push" />
      <Menu opener={<IconButton icon="columns" label="Columns" />}>
        {heads.map((head) => (
          <MenuToggle
            key={head}
            isOn={!hidden.includes(head)}
            onToggle={(isOn) => onHide(isOn ? hidden.filter((each) => each !== head) : [...hidden, head])}
          >
            {head}
          </MenuToggle>
        ))}
      </Menu>
      <IconButton icon="download" label={downloadLabel} onClick={onDownload} />
    </div>
  )
}
