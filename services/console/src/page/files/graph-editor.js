import { ask } from './api.js'
import { choice, el, field, say, working } from './dom.js'
import { several } from './format.js'
import { problemBox } from './parts.js'

/** What a sandbox product without a revision begins with: a flow that answers what it is given. */
const firstGraph = {
  input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  output: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  nodes: [
    { id: 'in', kind: 'input' },
    { id: 'out', kind: 'output' },
  ],
  edges: [{ from: 'in.text', to: 'out.text' }],
}

/** The graph of a revision as JSON, and beside it what is wrong with it. Saving makes a new revision. */
export function graphEditor({ path, show, sandbox, revisions, revision }) {
  const problem = problemBox()
  const text = el('textarea', { class: 'code', rows: 28, spellcheck: 'false', autocomplete: 'off' })
  text.value = JSON.stringify(revision?.graph ?? firstGraph, null, 2)
  const problems = el('div', {})
  const tell = (list) => problems.replaceChildren(problemList(list))
  if (revision) tell(revision.problems)

  const draft = choice('checkbox', 'draft', 'As a draft')
  const save = el('button', { type: 'button' }, 'Save a new revision')
  const activate = el('button', { type: 'button', class: 'secondary' }, `Activate revision ${revision?.number ?? ''}`)
  const attempt = (button, work) =>
    button.addEventListener(
      'click',
      working(button, async () => {
        problem.clear()
        try {
          await work()
        } catch (error) {
          if (error.details?.problems) tell(error.details.problems)
          problem.show(error)
        }
      }),
    )
  attempt(save, async () => {
    const graph = parsed(text.value)
    const body = { graph, draft: draft.querySelector('input').checked, baseRevision: sandbox.latestRevision }
    const saved = await ask('POST', `${path}/revisions`, body)
    say(`Revision ${saved.number} is saved.`)
    show(saved.number)
  })
  attempt(activate, async () => {
    await ask('POST', `${path}/revisions/${revision.number}/activate`)
    say(`Revision ${revision.number} is active.`)
    show(revision.number)
  })

  return el(
    'section',
    { class: 'card', 'aria-label': 'Graph' },
    el('h3', {}, 'Graph'),
    revision && field('Revision', revisionChoice({ show, sandbox, revisions, revision })),
    el('div', { class: 'beside' }, field('The graph as JSON', text), problems),
    problem.element,
    el('div', { class: 'bar' }, save, draft, revision && revision.number !== sandbox.activeRevision && activate),
  )
}

function revisionChoice({ show, sandbox, revisions, revision }) {
  const name = ({ number, draft }) =>
    [`Revision ${number}`, draft && 'draft', number === sandbox.activeRevision && 'active'].filter(Boolean).join(', ')
  const options = revisions.map((each) =>
    el('option', { value: each.number, selected: each.number === revision.number }, name(each)),
  )
  return el('select', { onchange: (event) => show(Number(event.target.value)) }, ...options)
}

function problemList(problems) {
  if (problems.length === 0) return el('p', { class: 'empty' }, 'No problem was found.')
  return el(
    'div',
    {},
    el('h4', {}, several(problems.length, 'problem')),
    el(
      'ul',
      { class: 'problems' },
      ...problems.map(({ code, node, port, message, resolution }) =>
        el(
          'li',
          {},
          el('p', {}, el('strong', {}, [node, port].filter(Boolean).join('.') || 'The graph'), ': ', message),
          el('p', { class: 'resolution' }, resolution),
          el('p', { class: 'fine' }, el('code', {}, code)),
        ),
      ),
    ),
  )
}

function parsed(text) {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw Object.assign(new Error(`The graph is not JSON: ${error.message}.`), {
      code: 'invalid_json',
      resolution: 'Correct the text and save it again.',
    })
  }
}
