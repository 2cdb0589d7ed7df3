import { ask } from './api.js'
import { choice, choices, el, field, openDialog, working } from './dom.js'
import { microOf } from './format.js'
import { modelsOf, sandboxesOf } from './models.js'
import { problemBox, submitOrCancel, whenThere } from './parts.js'
import { secretShown } from './secret.js'

/** Asks for what a key is to be, makes it, and shows its secret. */
export function newKeyDialog(context) {
  openDialog('Create a key', (dialog) => form(context, dialog))
}

function form({ page, where, refresh }, { close, show, keepOpen }) {
  const name = el('input', {
    type: 'text',
    required: true,
    maxlength: 100,
    placeholder: 'such as: website, CI',
    autocomplete: 'off',
  })
  const days = el('input', { type: 'number', required: true, min: 1, max: 365, value: 90, inputmode: 'numeric' })
  const limit = el('input', { type: 'text', inputmode: 'decimal', placeholder: 'none', autocomplete: 'off' })
  const reset = el(
    'select',
    {},
    ...['daily', 'weekly', 'monthly', 'lifetime'].map((each) => el('option', { value: each }, each)),
  )
  const models = modelChoice(where)
  const problem = problemBox()
  const button = el('button', { type: 'submit' }, 'Create the key')

  const create = working(button, async () => {
    problem.clear()
    const micro = limit.value.trim() === '' ? null : microOf(limit.value)
    if (limit.value.trim() !== '' && !micro) return problem.show(notAnAmount)
    if (models.isEmpty()) return problem.show(noModel)
    try {
      const made = await ask('POST', `${where.tenantPath}/keys`, {
        project: where.project,
        name: name.value,
        expiresInDays: Number(days.value),
        ...(micro && { limit: { micro, reset: reset.value } }),
        ...models.chosen(),
      })
      refresh()
      keepOpen()
      show('The key is made', ...secretShown({ page, where, close }, made))
    } catch (error) {
      problem.show(error)
    }
  })

  return el(
    'form',
    { onsubmit: create },
    field('Name', name),
    field('Expires after, in days', days, 'From 1 to 365.'),
    el(
      'div',
      { class: 'pair' },
      field('Spending limit, in USD', limit, 'Empty: only the wallet limits it.'),
      field('Counted', reset, 'Windows begin at midnight UTC.'),
    ),
    models.element,
    problem.element,
    submitOrCancel(button, close),
  )
}

const notAnAmount = {
  code: 'invalid_request',
  message: 'The spending limit is no amount of USD.',
  resolution: 'Write it as 5 or 0.25, with at most six places, or leave it empty.',
}

const noModel = {
  code: 'invalid_request',
  message: 'No model is chosen.',
  resolution: 'Choose at least one, or let the key call everything that the project can use.',
}

/** Everything that the project can use, or some of it. */
function modelChoice(where) {
  const boxes = el('div', { class: 'boxes', hidden: true })
  const pick = (isListed) => (boxes.hidden = !isListed)
  const ticked = () => [...boxes.querySelectorAll('input:checked')].map(({ value }) => value)
  boxes.append(
    whenThere(Promise.all([modelsOf(where), sandboxesOf(where)]), ([models, sandboxes]) =>
      models.length === 0
        ? el('p', { class: 'empty' }, 'No model is assigned to this project. An administrator assigns them.')
        : [...models, ...sandboxes].map(({ id, name }) =>
            choice('checkbox', 'resource', [name, ' ', el('code', {}, id)], { value: id }),
          ),
    ),
    el('p', { class: 'hint' }, 'To run a sandbox product, a key has to list every product that it calls, too.'),
  )
  const all = choice('radio', 'policy', 'Everything the project can use, now and later', {
    checked: true,
    onchange: () => pick(false),
  })
  const listed = choice('radio', 'policy', 'Only these models', { onchange: () => pick(true) })
  return {
    element: choices('The key may call', all, listed, boxes),
    isEmpty: () => !boxes.hidden && ticked().length === 0,
    chosen: () => (boxes.hidden ? { policy: 'all-eligible' } : { policy: 'listed', resources: ticked() }),
  }
}
