import { IconButton } from './icon-button.tsx'
import { Menu, MenuToggle } from './menu.tsx'

/** Tools above a list. */
export function TableTools({
  caption,
  heads,
  hidden,
  onHide,
  search,
  onSearch,
  onDownload,
}: {
  caption: string
  /** Columns that can be hidden. */
  heads: string[]
  hidden: string[]
  onHide: (hidden: string[]) => void
  /** null: the list has no search. */
  search: string | null
  onSearch: (search: string) => void
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
      <IconButton icon="download" label="Download CSV" onClick={onDownload} />
    </div>
  )
}
