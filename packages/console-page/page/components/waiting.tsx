/** Loading text that fades in after a delay, so fast responses don't flash it. */
export function Waiting({ what }: { what: string }) {
  return (
    <p className="waiting" role="status">
      Loading {what}…
    </p>
  )
}
