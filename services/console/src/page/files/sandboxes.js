import { ask, getAll } from './api.js'
import { el, field, openDialog, say, working } from './dom.js'
import { badge, facts, moment, problemBox, sandboxState, submitOrCancel, whenThere } from './parts.js'
import { sandboxPart } from './sandbox.js'

/** The sandbox products of a project, or the one that the address names. */
export function sandboxesPart(page, where) {
  if (where.thing !== undefined) return sandboxPart(page, where)
  const create = el(
    'button',
    { type: 'button', onclick: () => newSandboxDialog(page, where) },
    'Create a sandbox product',
  )
  const list = whenThere(getAll(`${where.path}/sandboxes`), (sandboxes) => sandboxList(where, sandboxes))
  return [el('div', { class: 'bar' }, create), list]
}

function sandboxList(where, sandboxes) {
  if (sandboxes.length === 0)
    return el(
      'p',
      { class: 'empty' },
      'There is no sandbox product yet. It is a private flow that calls products of this project.',
    )
  return el(
    'ul',
    { class: 'tiles' },
    ...sandboxes
      .toReversed()
      .map((sandbox) =>
        el(
          'li',
          {},
          el('a', { class: 'tile', href: addressOf(where, sandbox.id) }, sandbox.name),
          el('p', {}, sandbox.description),
          facts(
            ['State', badge(sandboxState(sandbox))],
            ['Active revision', sandbox.activeRevision ?? 'none'],
            ['Created', moment(sandbox.createdAt, { day: true })],
          ),
        ),
      ),
  )
}

function addressOf({ tenant, project }, sandbox) {
  return `#/t/${encodeURIComponent(tenant)}/p/${encodeURIComponent(project)}/sandboxes/${encodeURIComponent(sandbox)}`
}

function newSandboxDialog(page, where) {
  openDialog('Create a sandbox product', ({ close }) => {
    const problem = problemBox()
    const name = el('input', { type: 'text', required: true, maxlength: 100, autocomplete: 'off' })
    const description = el('input', { type: 'text', maxlength: 2000, autocomplete: 'off' })
    const button = el('button', { type: 'submit' }, 'Create it')
    const create = working(button, async () => {
      problem.clear()
      try {
        const body = { name: name.value, description: description.value }
        const made = await ask('POST', `${where.path}/sandboxes`, body)
        close()
        say(`${made.name} is made.`)
        page.go(addressOf(where, made.id))
      } catch (error) {
        problem.show(error)
      }
    })
    return el(
      'form',
      { onsubmit: create },
      field('Name', name),
      field('Description', description, 'What callers are told that it does.'),
      problem.element,
      submitOrCancel(button, close),
    )
  })
}
