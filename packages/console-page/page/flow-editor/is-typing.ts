/** Whether the element handles key presses itself, such as a text field, a select, or an editor of code. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName) ||
      target.closest('.code-editor') !== null)
  )
}
