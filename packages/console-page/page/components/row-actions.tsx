import { IconButton } from './icon-button.tsx'
import { Menu, MenuItem, MenuSeparator } from './menu.tsx'

const dangers: readonly string[] = [
  'Unassign',
  'Remove access',
  'Remove',
  'Delete',
  'Revoke',
  'Suspend',
  'Sign out',
  'Disable',
  'Remove operator',
  'Reset second factor',
]

/** Actions of one row: a button for one, a menu for several, with what destroys something last and apart. */
export function RowActions<Act extends string>({
  acts,
  of,
  onChoose,
}: {
  acts: readonly Act[]
  /** Name of the row. */
  of: string
  onChoose: (act: Act) => void
}) {
  const isDanger = (act: Act) => dangers.includes(act)
  const [first, ...others] = acts
  if (first === undefined) return null
  if (others.length === 0)
    return (
      <button
        type="button"
        className={`button small ${isDanger(first) ? 'danger' : ''}`}
        aria-label={`${first} ${of}`}
        onClick={() => onChoose(first)}
      >
        {first}
      </button>
    )
  const items = (shown: readonly Act[]) =>
    shown.map((act) => (
      <MenuItem key={act} isDanger={isDanger(act)} onChoose={() => onChoose(act)}>
        {act}
      </MenuItem>
    ))
  const harmless = acts.filter((act) => !isDanger(act))
  return (
    <Menu opener={<IconButton icon="more" label={`Actions for ${of}`} className="small" />}>
      {items(harmless)}
      {harmless.length > 0 && harmless.length < acts.length && <MenuSeparator />}
      {items(acts.filter(isDanger))}
    </Menu>
  )
}
