/** Reads a list anew that does not come by itself. */
export function LookAgain({ isLooking, onLook }: { isLooking: boolean; onLook: () => void }) {
  return (
    <button type="button" className="button" onClick={onLook} disabled={isLooking}>
      {isLooking ? 'Looking…' : 'Look again'}
    </button>
  )
}
