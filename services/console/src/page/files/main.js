import { accountView } from './account.js'
import { ask, get } from './api.js'
import { el, say } from './dom.js'
import { homeView } from './home.js'
import { refusalBox } from './parts.js'
import { projectView } from './project.js'
import { signInView } from './sign-in.js'

// The whole page: who is signed in, which view the address asks for, and the frame around it. Addresses:
//   #/                                     projects
//   #/t/<tenant>/p/<project>/<part>        a project: keys, sandboxes, usage, invocations
//   #/t/<tenant>/p/<project>/sandboxes/<sandbox>
//   #/account                              who I am, password, personal tokens

const main = document.getElementById('main')
const top = document.getElementById('top')

/** What the views are given. `me` is null while nobody is signed in. */
const page = {
  me: null,
  signInMethods: { baseUrl: null, provider: null },
  go: (address) => (location.hash = address),
  signedIn(me) {
    page.me = me
    page.notice = null
    show()
  },
}

function show() {
  showTop()
  const view = viewFor(addressOf(location.hash))
  document.title = `${view.title} · Console`
  main.replaceChildren(...view.content)
  const heading = main.querySelector('h1')
  if (heading && shownOnce) {
    heading.tabIndex = -1
    heading.focus({ preventScroll: true })
    scrollTo(0, 0)
  }
  shownOnce = true
}
let shownOnce = false

function addressOf(hash) {
  try {
    return hash.replace(/^#\/?/, '').split('/').map(decodeURIComponent)
  } catch {
    return [] // somebody has written it by hand
  }
}

function viewFor(address) {
  if (!page.me) return signInView(page)
  if (address[0] === 'account') return accountView(page)
  if (address[0] === 't' && address[2] === 'p' && address[3])
    return projectView(page, { tenant: address[1], project: address[3], part: address[4] ?? 'keys', thing: address[5] })
  return homeView(page)
}

function showTop() {
  const here = location.hash.startsWith('#/account') ? 'account' : 'projects'
  const link = (name, href, text) => el('a', { href, 'aria-current': here === name && 'page' }, text)
  top.replaceChildren(el('a', { class: 'brand', href: '#/' }, 'Console'))
  if (!page.me) return
  top.append(
    el(
      'nav',
      { 'aria-label': 'Console' },
      link('projects', '#/', 'Projects'),
      link('account', '#/account', page.me.name),
      el('button', { type: 'button', class: 'plain', onclick: signOut }, 'Sign out'),
    ),
  )
}

async function signOut() {
  try {
    await ask('DELETE', '/api/v2/session')
  } catch (error) {
    if (!error.isSignedOut) return main.prepend(refusalBox(error))
  }
  page.me = null
  page.notice = 'You are signed out.'
  location.hash = '#/'
  show()
}

/** The session has ended by itself. */
function signedOut() {
  if (!page.me) return
  for (const dialog of document.querySelectorAll('dialog:not([data-stays])')) dialog.close()
  page.me = null
  page.notice = 'Your session has ended. Sign in again.'
  show()
  say(page.notice)
}

async function start() {
  try {
    page.signInMethods = await get('/api/v2/session')
    page.me = await get('/api/v2/me')
  } catch (error) {
    if (!error.isSignedOut) return main.replaceChildren(el('div', { class: 'narrow' }, refusalBox(error)))
  }
  show()
}

// The address says which view is open, so this link may not change it.
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault()
  main.focus()
})
addEventListener('hashchange', show)
addEventListener('signedout', signedOut)
await start()
