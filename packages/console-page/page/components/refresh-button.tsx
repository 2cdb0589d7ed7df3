/** Refreshes a list that isn't polled. */
export function RefreshButton({ isLooking, onLook }: { isLooking: boolean; onLook: () => void }) {
  return (
    <button type="button" className="button" onClick={onLook} disabled={isLooking}>
      {isLooking ? 'Refreshing…' : 'Refresh'}
    </button>
  )
}
