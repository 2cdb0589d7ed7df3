import { ask } from './api.js'
import { el, field, working } from './dom.js'
import { problemBox } from './parts.js'

export function signInView(page) {
  const { signInMethods, notice } = page
  const email = el('input', { type: 'email', name: 'email', autocomplete: 'username', required: true, maxlength: 254 })
  const password = el('input', {
    type: 'password',
    name: 'password',
    autocomplete: 'current-password',
    required: true,
    maxlength: 256,
  })
  const button = el('button', { type: 'submit' }, 'Sign in')
  const problem = problemBox()

  const signIn = working(button, async () => {
    problem.clear()
    try {
      page.signedIn(await ask('POST', '/api/v2/session', { email: email.value, password: password.value }))
    } catch (error) {
      password.value = ''
      password.focus()
      problem.show(error)
    }
  })

  const content = el(
    'div',
    { class: 'narrow card' },
    el('h1', {}, 'Sign in'),
    notice && el('p', { class: 'notice' }, notice),
    signInMethods.provider && providerLink(signInMethods.provider),
    el(
      'form',
      { onsubmit: signIn },
      field('E-mail', email),
      field('Password', password),
      problem.element,
      el('div', { class: 'buttons' }, button),
    ),
  )
  return { title: 'Sign in', content: [content] }
}

function providerLink({ path, isReached }) {
  return [
    isReached
      ? el('a', { class: 'button wide', href: path }, 'Continue with single sign-on')
      : el('p', { class: 'notice' }, 'Single sign-on can not be reached at the moment. A password still works.'),
    el('p', { class: 'or' }, 'or with a password'),
  ]
}
