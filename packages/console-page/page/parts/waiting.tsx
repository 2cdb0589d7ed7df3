/** Shown after a moment only: what comes at once needs no word. */
export function Waiting({ what }: { what: string }) {
  return (
    <p className="waiting" role="status">
      Loading {what}…
    </p>
  )
}
