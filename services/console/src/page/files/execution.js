import { askLines } from './api.js'
import { contractForm } from './contract-form.js'
import { el, say, table, working } from './dom.js'
import { usd } from './format.js'
import { badge, problemBox, refusalBox } from './parts.js'
import { stopButton } from './stop.js'

/** Runs a revision, with a form made from its contract, and shows each node as it ends; then calls `ended`. */
export function executionPart(where, path, revision, ended) {
  const problem = problemBox()
  const form = contractForm(revision.graph.input)
  const button = el('button', { type: 'submit' }, `Run revision ${revision.number}`)
  const shown = el('div', { class: 'stack' })
  const run = working(button, async () => {
    problem.clear()
    try {
      const body = { input: form.read(), revision: revision.number }
      const show = progressShown(where, shown)
      await askLines('POST', `${path}/execute`, body, show)
    } catch (error) {
      problem.show(error)
    }
    ended()
  })
  return el(
    'section',
    { class: 'card', 'aria-label': 'Run' },
    el('h3', {}, 'Run it'),
    el(
      'p',
      { class: 'fine' },
      'It runs without a key, and what its products charge is paid from the project’s wallet.',
    ),
    el('form', { onsubmit: run }, form.element, problem.element, el('div', { class: 'buttons' }, button)),
    shown,
  )
}

/** Answers what shows a line of progress after the other. */
function progressShown(where, container) {
  const nodes = []
  const list = el('div', {})
  const heading = el('p', {}, 'Waiting for the execution…')
  container.replaceChildren(heading, list)
  return (line) => {
    if (line.kind === 'admitted') {
      heading.replaceChildren('Running ', el('code', {}, line.executionId), '…')
      heading.after(stopButton(where.path, line.executionId))
    }
    if (line.kind === 'node') nodes.push(line.node)
    if (line.kind === 'complete') return container.replaceChildren(...executionShown(line.execution))
    list.replaceChildren(nodeTable(nodes))
  }
}

/** An execution that is over, or one that goes on. */
export function executionShown({ id, status, output, error, nodes, chargedMicro }) {
  say(`The execution is ${status}.`)
  return [
    el('p', {}, badge(status), ' ', el('code', {}, id), ` charged ${usd(chargedMicro)}`),
    error && refusalBox(error),
    output && el('pre', { class: 'value', tabindex: 0 }, JSON.stringify(output, null, 2)),
    nodeTable(nodes),
  ].filter(Boolean)
}

function nodeTable(nodes) {
  return table(
    'Nodes',
    [
      { head: 'Node', cell: ({ id, kind }) => [id, el('code', { class: 'id' }, kind)] },
      { head: 'Status', cell: ({ status }) => badge(status) },
      { head: 'Output', cell: ({ output, error }) => error?.message ?? shortOf(output) },
      { head: 'ms', number: true, cell: ({ durationMs }) => durationMs ?? '–' },
      { head: 'Charged', number: true, cell: ({ chargedMicro }) => usd(chargedMicro) },
    ],
    nodes,
  )
}

function shortOf(output) {
  if (output === null) return '–'
  const text = JSON.stringify(output)
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
