import { el } from './dom.js'
import { stateText } from './format.js'

/** A refusal as people read it: what is wrong, and what clears it. */
export function refusalBox(error) {
  const isRefusal = error.code !== undefined
  return el(
    'div',
    { class: 'refusal', role: 'alert' },
    el('p', {}, el('strong', {}, isRefusal ? error.message : 'The page failed to show this.')),
    el('p', {}, isRefusal ? error.resolution : 'Load the page again.'),
    isRefusal &&
      el(
        'p',
        { class: 'fine' },
        el('code', {}, error.code),
        error.requestId && [' · request ', el('code', {}, error.requestId)],
      ),
  )
}

/** Where a form says what went wrong. */
export function problemBox() {
  const element = el('div', { class: 'problem' })
  return {
    element,
    clear: () => element.replaceChildren(),
    show(error) {
      element.replaceChildren(refusalBox(error))
      element.scrollIntoView({ block: 'nearest' })
    },
  }
}

export function badge(state) {
  return el('span', { class: `badge ${state}` }, stateText(state))
}

/** Whether a sandbox product can be called from outside. */
export function sandboxState({ suspended, activeRevision }) {
  return suspended ? 'Suspended' : activeRevision === null ? 'Inactive' : 'Active'
}

const momentText = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const dayText = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })

/** A moment in the reader's own time; the title has it in UTC. */
export function moment(iso, { day = false } = {}) {
  return el('time', { datetime: iso, title: iso }, (day ? dayText : momentText).format(new Date(iso)))
}

export function loading() {
  return el('p', { class: 'loading' }, 'Loading…')
}

/** Names and values. Rows whose value is null are left out. */
export function facts(...rows) {
  return el(
    'dl',
    { class: 'facts' },
    ...rows
      .filter(([, value]) => value !== null)
      .map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))),
  )
}

/** Shows what a promise brings in the place of "Loading…", or why it brings nothing. */
export function whenThere(promise, show) {
  const container = el('div', {}, loading())
  promise
    .then(show)
    .then((shown) => container.replaceChildren(...[shown].flat().filter(Boolean)))
    .catch((error) => container.replaceChildren(refusalBox(error)))
  return container
}

/** The end of a form in a dialog: what it is for, and the way out. */
export function submitOrCancel(button, close) {
  return el(
    'div',
    { class: 'buttons' },
    button,
    el('button', { type: 'button', class: 'secondary', onclick: close }, 'Cancel'),
  )
}
