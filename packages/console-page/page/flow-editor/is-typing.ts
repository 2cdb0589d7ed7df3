/** Whether the element handles key presses itself, such as a text field, a select, or an editor of code. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      ['INPUT', 'TEXTAREA'].includes(target.tagName) ||
      target.role === 'combobox' ||
      target.closest('.code-editor') !== null)
  )
}
