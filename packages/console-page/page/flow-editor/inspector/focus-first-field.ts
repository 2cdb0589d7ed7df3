const GONE_ON = ['pointerdown', 'keydown'] as const

/**
 * Focuses the first field of a form, also if the form has yet to load. A click or a key press before then cancels this,
 * so that the user keeps the focus.
 */
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
