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

/** Actions of one row. The accessible name of each button includes the row's name. */
export function RowButtons<Act extends string>({
  acts,
  of,
  onChoose,
}: {
  acts: readonly Act[]
  of: string
  onChoose: (act: Act) => void
}) {
  return (
    <div className="buttons">
      {acts.map((act) => (
        <button
          key={act}
          type="button"
          className={`button small ${dangers.includes(act) ? 'danger' : ''}`}
          aria-label={`${act} ${of}`}
          onClick={() => onChoose(act)}
        >
          {act}
        </button>
      ))}
    </div>
  )
}
