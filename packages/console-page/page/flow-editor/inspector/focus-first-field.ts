const GONE_ON = ['pointerdown', 'keydown'] as const

/** Puts the focus into the first field of what is there, or comes: its code may be late. Anyone who continues meanwhile keeps the focus. */
export function focusFirstField(place: HTMLElement): void {
  const field = () => place.querySelector<HTMLElement>('textarea, select') ?? place.querySelector<HTMLElement>('input')
  const there = field()
  if (there) return there.focus()
  const coming = new MutationObserver(() => {
    const come = field()
    if (!come) return
    leave()
    come.focus()
  })
  function leave(): void {
    coming.disconnect()
    for (const event of GONE_ON) removeEventListener(event, leave)
  }
  coming.observe(place, { childList: true, subtree: true })
  for (const event of GONE_ON) addEventListener(event, leave)
}
