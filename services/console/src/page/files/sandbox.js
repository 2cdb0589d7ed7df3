import { ask, at, get, getPage } from './api.js'
import { exampleOf } from './contract-form.js'
import { choice, copyable, el, say } from './dom.js'
import { curlInvoke } from './format.js'
import { graphEditor } from './graph-editor.js'
import { badge, facts, moment, problemBox, sandboxState, whenThere } from './parts.js'
import { executionPart } from './execution.js'
import { executionsPart } from './executions.js'

const REVISIONS = 20

/** One sandbox product: its switches, its newest revisions with their graphs, and a form that runs them. */
export function sandboxPart(page, where) {
  const path = at`/api/v2/tenants/${where.tenant}/sandboxes/${where.thing}`
  const container = el('div', { class: 'stack' })
  // After a save or an activation everything is shown anew, with the revision that it was about.
  const show = (chosen) =>
    container.replaceChildren(
      whenThere(everythingOf(path, chosen), (read) => sandboxShown({ page, where, path, show, ...read })),
    )
  show(null)
  return container
}

/** The sandbox product, its newest revisions, and the one to be shown, which is the active one unless another is chosen. */
async function everythingOf(path, chosen) {
  const [sandbox, { data: revisions }] = await Promise.all([get(path), getPage(`${path}/revisions`, null, REVISIONS)])
  for (const number of [sandbox.activeRevision, chosen])
    if (number !== null && !revisions.some((each) => each.number === number))
      revisions.push(await get(`${path}/revisions/${number}`))
  const numbered = (number) => revisions.find((each) => each.number === number) ?? null
  const active = numbered(sandbox.activeRevision)
  return { sandbox, revisions, active, revision: numbered(chosen) ?? active ?? revisions[0] ?? null }
}

function sandboxShown(context) {
  const { where, path, sandbox, active, revision } = context
  const executions = executionsPart(where, path)
  return [
    el(
      'div',
      { class: 'card' },
      el('div', { class: 'key-head' }, el('h3', {}, sandbox.name), badge(sandboxState(sandbox))),
      el('p', {}, sandbox.description),
      facts(
        ['Id', el('code', {}, sandbox.id)],
        ['Active revision', sandbox.activeRevision ?? 'none'],
        ['Latest revision', sandbox.latestRevision === 0 ? 'none' : sandbox.latestRevision],
        ['Created', moment(sandbox.createdAt, { day: true })],
      ),
      switches(context),
      active && invokeCommand(context),
    ),
    graphEditor(context),
    revision?.digest && executionPart(where, path, revision, executions.refresh),
    executions.element,
  ]
}

function switches({ path, show, sandbox }) {
  const problem = problemBox()
  const change = (name, done) => async (event) => {
    problem.clear()
    try {
      await ask('PATCH', path, { [name]: event.target.checked })
      say(done(event.target.checked))
      show(null)
    } catch (error) {
      event.target.checked = !event.target.checked
      problem.show(error)
    }
  }
  return el(
    'div',
    {},
    choice('checkbox', 'mcp', 'Can be called over MCP', {
      checked: sandbox.mcpEnabled,
      onchange: change('mcpEnabled', (on) => (on ? 'MCP is enabled.' : 'MCP is disabled.')),
    }),
    choice('checkbox', 'suspended', 'Suspended: nobody can call it from outside', {
      checked: sandbox.suspended,
      onchange: change('suspended', (on) => (on ? 'It is suspended.' : 'It can be called again.')),
    }),
    problem.element,
  )
}

function invokeCommand({ page, sandbox, active }) {
  const command = curlInvoke(page.signInMethods.baseUrl ?? location.origin, sandbox.id, exampleOf(active.graph.input))
  return el('details', {}, el('summary', {}, 'Call it with a key'), copyable(command, { block: true }))
}
