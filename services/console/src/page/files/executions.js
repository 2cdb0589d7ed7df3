import { at, get, getPage } from './api.js'
import { el, openDialog, table } from './dom.js'
import { usd } from './format.js'
import { badge, moment, whenThere } from './parts.js'
import { executionShown } from './execution.js'
import { canBeStopped, stopButton } from './stop.js'

const PAGE = 20

/** The newest executions of a sandbox product, whoever began them. */
export function executionsPart(where, path) {
  const container = el('div', {})
  const refresh = () =>
    container.replaceChildren(
      whenThere(getPage(`${path}/executions`, null, PAGE), ({ data }) =>
        data.length === 0
          ? el('p', { class: 'empty' }, 'It was not run yet.')
          : table('Executions', columns(where), data),
      ),
    )
  refresh()
  return {
    element: el('section', { 'aria-label': 'Executions' }, el('h3', {}, 'Newest executions'), container),
    refresh,
  }
}

function columns(where) {
  const open = (id) => () =>
    openDialog(`Execution ${id}`, ({ close }) => [
      whenThere(get(`${where.path}${at`/executions/${id}`}`), (execution) => shownWithStop(where, execution)),
      el('div', { class: 'buttons' }, el('button', { type: 'button', onclick: close }, 'Close')),
    ])
  return [
    {
      head: 'Execution',
      cell: ({ id, createdAt }) => [
        moment(createdAt),
        ' ',
        el('button', { type: 'button', class: 'plain', onclick: open(id) }, el('code', {}, id)),
      ],
    },
    { head: 'Revision', number: true, cell: ({ revision }) => revision },
    { head: 'Status', cell: ({ status }) => badge(status) },
    { head: 'Charged', number: true, cell: ({ chargedMicro }) => usd(chargedMicro) },
  ]
}

function shownWithStop(where, execution) {
  const shown = executionShown(execution)
  if (!canBeStopped(execution)) return shown
  const container = el('div', { class: 'stack' })
  const button = stopButton(where.path, execution.id, (stopped) =>
    container.replaceChildren(...executionShown(stopped)),
  )
  container.replaceChildren(...shown, button)
  return container
}
