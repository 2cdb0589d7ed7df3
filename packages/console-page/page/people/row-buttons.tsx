const dangers: readonly string[] = ['Withdraw', 'Remove', 'Delete']

/** What can be done to one row; each button says of what, for those who hear it alone. */
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
