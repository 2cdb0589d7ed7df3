// Everything the page shows is built here from text and elements, so that no text can ever become markup.

/**
 * Makes an element: attributes by name, listeners as `onclick: () => …`, and children, of which null and false are left out.
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value)
    else if (value === true) element.setAttribute(name, '')
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value))
  }
  element.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false))
  return element
}

let lastId = 0
const newId = (prefix) => `${prefix}-${++lastId}`

/** A labelled field. `hint` is read out with it. */
export function field(label, control, hint = null) {
  control.id ||= newId('field')
  const hintId = `${control.id}-hint`
  if (hint) control.setAttribute('aria-describedby', hintId)
  return el(
    'div',
    { class: 'field' },
    el('label', { for: control.id }, label),
    control,
    hint && el('p', { class: 'hint', id: hintId }, hint),
  )
}

/** A choice of several, as a group with its own name. */
export function choices(legend, ...rows) {
  return el('fieldset', {}, el('legend', {}, legend), rows)
}

export function choice(type, name, label, { checked = false, value = '', onchange } = {}) {
  const input = el('input', { type, name, value, checked, ...(onchange && { onchange }) })
  return el('label', { class: 'choice' }, input, el('span', {}, label))
}

/** Tells whoever can't see the page what has just happened. */
export function say(text) {
  document.getElementById('announcement').textContent = text
}

/**
 * A dialog over the page, which keeps the focus until it is closed and then gives it back.
 * @param fill is given the function that closes it, and answers what stands in it
 * @param stays not closed by Escape: for what is shown only once
 */
export function openDialog(title, fill, { stays = false } = {}) {
  const heading = el('h2', { id: newId('dialog') }, title)
  const dialog = el('dialog', { 'aria-labelledby': heading.id })
  const close = () => dialog.close()
  const show = (newTitle, ...content) => {
    heading.textContent = newTitle
    dialog.replaceChildren(heading, ...content)
  }
  dialog.addEventListener('cancel', (event) => (stays || dialog.dataset.stays) && event.preventDefault())
  dialog.addEventListener('close', () => {
    dialog.remove()
    // What had the focus before may be gone, if the list it stood in was made anew.
    if (document.activeElement === document.body) document.getElementById('main').focus()
  })
  show(title, ...[fill({ close, show, keepOpen: () => (dialog.dataset.stays = 'yes') })].flat())
  document.body.append(dialog)
  dialog.showModal()
  return dialog
}

/** A button that copies a text and says so. */
export function copyButton(text, label = 'Copy', source = null) {
  const button = el(
    'button',
    {
      type: 'button',
      class: 'secondary',
      async onclick() {
        const copied = await copy(text, source)
        button.textContent = copied ? 'Copied' : 'Select it and copy it'
        say(copied ? 'Copied.' : 'Your browser does not let the page copy. The text is selected.')
        setTimeout(() => (button.textContent = label), 2500)
      },
    },
    label,
  )
  return button
}

/** Browsers give a page the clipboard only over https or on this machine; elsewhere the text is selected at least. */
async function copy(text, source) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    if (source) getSelection().selectAllChildren(source)
    return false
  }
}

/** A text to be copied: shown whole, with its button. */
export function copyable(text, { label, block = false } = {}) {
  const shown = el(block ? 'pre' : 'code', block ? { tabindex: 0 } : {}, text)
  return el('div', { class: block ? 'copyable block' : 'copyable' }, shown, copyButton(text, label, shown))
}

/** A button that can't be pressed twice while it works. */
export function working(button, work) {
  return async (event) => {
    event?.preventDefault()
    if (button.getAttribute('aria-disabled') === 'true') return
    button.setAttribute('aria-disabled', 'true')
    try {
      await work()
    } finally {
      button.removeAttribute('aria-disabled')
    }
  }
}

/** A table that becomes a list of cards where the screen is narrow. Columns are `{ head, cell, number }`. */
export function table(caption, columns, rows) {
  const head = columns.map(({ head, number }) =>
    el('th', { scope: 'col', role: 'columnheader', class: number && 'number' }, head),
  )
  const line = (row) =>
    columns.map(({ head, cell, number }) =>
      el('td', { role: 'cell', 'data-head': head, class: number && 'number' }, el('div', {}, cell(row))),
    )
  return el(
    'table',
    { role: 'table' },
    el('caption', { class: 'visually-hidden' }, caption),
    el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, head)),
    el('tbody', { role: 'rowgroup' }, ...rows.map((row) => el('tr', { role: 'row' }, line(row)))),
  )
}
