import { ask, at, getAll } from './api.js'
import { copyable, el, field, openDialog, say, working } from './dom.js'
import { facts, moment, problemBox, submitOrCancel, whenThere } from './parts.js'

export function accountView(page) {
  const { me } = page
  const content = [
    el('h1', {}, 'Account'),
    el(
      'section',
      { class: 'card' },
      facts(
        ['Name', me.name],
        ['E-mail', me.email],
        ['Platform operator', me.platformOperator ? 'yes' : null],
        ['Organizations', me.tenants.map(({ name, role }) => `${name} (${role})`).join(', ') || 'none'],
        ['Id', copyable(me.id)],
      ),
    ),
    tokens(),
    password(page),
  ]
  return { title: 'Account', content }
}

function tokens() {
  const list = el('div', {})
  const refresh = () => list.replaceChildren(whenThere(getAll('/api/v2/me/tokens'), (rows) => tokenList(rows, refresh)))
  refresh()
  const create = el('button', { type: 'button', onclick: () => newToken(refresh) }, 'Create a token')
  return el(
    'section',
    { class: 'card', 'aria-label': 'Personal tokens' },
    el('h2', {}, 'Personal tokens'),
    el(
      'p',
      {},
      'A program that sends one as ',
      el('code', {}, 'Authorization: Bearer svu_…'),
      ' may do here what you may.',
    ),
    list,
    el('div', { class: 'buttons' }, create),
  )
}

function tokenList(rows, refresh) {
  if (rows.length === 0) return el('p', { class: 'empty' }, 'You have none.')
  const problem = problemBox()
  const remove = async (token) => {
    problem.clear()
    try {
      await ask('DELETE', at`/api/v2/me/tokens/${token.id}`)
      say(`The token ${token.name} is deleted.`)
      refresh()
    } catch (error) {
      problem.show(error)
    }
  }
  return [
    problem.element,
    el(
      'ul',
      { class: 'keys' },
      ...rows.map((token) =>
        el(
          'li',
          {},
          el('h3', {}, token.name),
          facts(
            ['Secret', el('code', {}, `${token.prefix}…`)],
            ['Created', moment(token.createdAt, { day: true })],
            ['Expires', token.expiresAt ? moment(token.expiresAt, { day: true }) : 'never'],
          ),
          el(
            'div',
            { class: 'buttons' },
            el(
              'button',
              {
                type: 'button',
                class: 'danger',
                'aria-label': `Delete the token ${token.name}`,
                onclick: () => remove(token),
              },
              'Delete',
            ),
          ),
        ),
      ),
    ),
  ]
}

function newToken(refresh) {
  openDialog('Create a personal token', ({ close, show, keepOpen }) => {
    const name = el('input', { type: 'text', required: true, maxlength: 100, autocomplete: 'off' })
    const days = el('input', { type: 'number', required: true, min: 1, max: 365, value: 90, inputmode: 'numeric' })
    const problem = problemBox()
    const button = el('button', { type: 'submit' }, 'Create the token')
    const create = working(button, async () => {
      problem.clear()
      try {
        const { secret } = await ask('POST', '/api/v2/me/tokens', {
          name: name.value,
          expiresInDays: Number(days.value),
        })
        refresh()
        keepOpen()
        show(
          'The token is made',
          el('p', { class: 'notice' }, 'Copy it now: it is shown this once and kept nowhere.'),
          copyable(secret, { label: 'Copy the token' }),
          el('div', { class: 'buttons' }, el('button', { type: 'button', onclick: close }, 'I have copied it')),
        )
      } catch (error) {
        problem.show(error)
      }
    })
    return el(
      'form',
      { onsubmit: create },
      field('Name', name),
      field('Expires after, in days', days, 'From 1 to 365.'),
      problem.element,
      submitOrCancel(button, close),
    )
  })
}

function password(page) {
  const current = el('input', { type: 'password', autocomplete: 'current-password', maxlength: 256 })
  const fresh = el('input', {
    type: 'password',
    autocomplete: 'new-password',
    required: true,
    minlength: 12,
    maxlength: 256,
  })
  const user = el('input', { type: 'text', autocomplete: 'username', value: page.me.email, hidden: true })
  const problem = problemBox()
  const button = el('button', { type: 'submit' }, 'Change the password')
  const change = working(button, async () => {
    problem.clear()
    try {
      await ask('PUT', '/api/v2/me/password', {
        password: fresh.value,
        ...(current.value && { current: current.value }),
      })
    } catch (error) {
      return problem.show(error)
    }
    page.me = null
    page.notice = 'The password is changed, and every session has ended. Sign in again.'
    page.go('#/')
  })
  return el(
    'section',
    { class: 'card', 'aria-label': 'Password' },
    el('h2', {}, 'Password'),
    el(
      'p',
      {},
      'Changing it signs you out everywhere. Personal tokens go on working; delete those that you do not know.',
    ),
    el(
      'form',
      { onsubmit: change },
      user,
      field('Current password', current, 'Empty if you have none yet.'),
      field('New password', fresh, 'At least 12 characters.'),
      problem.element,
      el('div', { class: 'buttons' }, button),
    ),
  )
}
