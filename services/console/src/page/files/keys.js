import { ask, at, getAll } from './api.js'
import { choice, el, openDialog, say, working } from './dom.js'
import { limitText } from './format.js'
import { memberNames } from './names.js'
import { newKeyDialog } from './new-key.js'
import { badge, facts, moment, problemBox, submitOrCancel, whenThere } from './parts.js'
import { secretShown } from './secret.js'

/** The keys of a project: those that I may manage. */
export function keysPart(page, where) {
  const list = el('div', {})
  let showsEnded = false
  const refresh = () =>
    list.replaceChildren(
      whenThere(Promise.all([keysOf(where), memberNames(where)]), ([keys, names]) =>
        keyList({ page, where, refresh, names }, keys, showsEnded),
      ),
    )
  refresh()
  const ended = choice('checkbox', 'ended', 'Show keys that have ended', {
    onchange: (event) => {
      showsEnded = event.target.checked
      refresh()
    },
  })
  const create = el('button', { type: 'button', onclick: () => newKeyDialog({ page, where, refresh }) }, 'Create a key')
  return [el('div', { class: 'bar' }, create, ended), list]
}

const keysOf = ({ tenantPath, project }) => getAll(`${tenantPath}/keys?project=${encodeURIComponent(project)}`)

function keyList(context, keys, showsEnded) {
  const shown = keys.filter(({ state }) => showsEnded || state === 'Active' || state === 'NeedsReissue').toReversed()
  if (shown.length === 0)
    return el(
      'p',
      { class: 'empty' },
      keys.length === 0
        ? 'There is no key that you may manage. Create one to call models.'
        : 'Every key here has ended.',
    )
  return el('ul', { class: 'keys' }, ...shown.map((key) => keyCard(context, key)))
}

function keyCard(context, key) {
  const { page, names } = context
  const creator = key.createdBy === page.me.id ? 'you' : (names.get(key.createdBy) ?? key.createdBy)
  const policy = key.policy === 'listed' ? key.resources.join(', ') : 'everything the project can use'
  const isActive = key.state === 'Active'
  return el(
    'li',
    { class: isActive ? '' : 'ended' },
    el('div', { class: 'key-head' }, el('h3', {}, key.name), badge(key.state)),
    facts(
      ['Secret', el('code', {}, `${key.prefix}…`)],
      ['May call', policy],
      ['Spending limit', limitText(key.limit)],
      ['Expires', key.expiresAt ? moment(key.expiresAt, { day: true }) : 'never'],
      ['Last used', key.lastUsedAt ? moment(key.lastUsedAt) : 'not yet'],
      ['Created', [moment(key.createdAt, { day: true }), ` by ${creator}`]],
      ['Replaced by', key.rotatedTo && el('code', {}, key.rotatedTo)],
      ['Replaces', key.rotatedFrom && el('code', {}, key.rotatedFrom)],
    ),
    isActive &&
      el(
        'div',
        { class: 'buttons' },
        el(
          'button',
          {
            type: 'button',
            class: 'secondary',
            'aria-label': `Rotate ${key.name}`,
            onclick: () => rotateDialog(context, key),
          },
          'Rotate',
        ),
        el(
          'button',
          { type: 'button', class: 'danger', 'aria-label': `Revoke ${key.name}`, onclick: () => revoke(context, key) },
          'Revoke',
        ),
      ),
  )
}

function revoke({ where, refresh }, key) {
  confirmRevoke(key, async () => {
    await ask('POST', at`/api/v2/tenants/${where.tenant}/keys/${key.id}/revoke`)
    say(`The key ${key.name} is revoked.`)
    refresh()
  })
}

/** Asks before what can't be undone. */
export function confirmRevoke(key, doIt) {
  openDialog('Revoke this key?', ({ close }) => {
    const problem = problemBox()
    const button = el('button', { type: 'button', class: 'danger' }, 'Revoke it')
    const go = working(button, async () => {
      problem.clear()
      try {
        await doIt()
        close()
      } catch (error) {
        problem.show(error)
      }
    })
    button.addEventListener('click', go)
    return [
      el(
        'p',
        {},
        'The key ',
        el('strong', {}, key.name),
        ' (',
        el('code', {}, `${key.prefix}…`),
        ') stops working at once and for ever.',
      ),
      problem.element,
      el(
        'div',
        { class: 'buttons' },
        button,
        el('button', { type: 'button', class: 'secondary', onclick: close }, 'Keep it'),
      ),
    ]
  })
}

const graces = [
  ['0', 'at once'],
  ['3600', 'in an hour'],
  ['86400', 'in a day'],
]

function rotateDialog({ page, where, refresh }, key) {
  openDialog('Rotate this key', ({ close, show, keepOpen }) => {
    const problem = problemBox()
    const grace = el(
      'select',
      { id: 'grace' },
      graces.map(([value, text]) => el('option', { value }, text)),
    )
    const button = el('button', { type: 'submit' }, 'Rotate')
    const rotate = working(button, async () => {
      problem.clear()
      const path = at`/api/v2/tenants/${where.tenant}/keys/${key.id}/rotate`
      try {
        const made = await ask('POST', path, { graceSeconds: Number(grace.value) })
        refresh()
        keepOpen()
        show('The new secret', ...secretShown({ page, where, close }, made))
      } catch (error) {
        problem.show(error)
      }
    })
    return el(
      'form',
      { onsubmit: rotate },
      el(
        'p',
        {},
        'The replacement of ',
        el('strong', {}, key.name),
        ' has the same project, models, limit and time to live, and shares its spending with the old one.',
      ),
      el('div', { class: 'field' }, el('label', { for: 'grace' }, 'The old secret stops working'), grace),
      problem.element,
      submitOrCancel(button, close),
    )
  })
}
