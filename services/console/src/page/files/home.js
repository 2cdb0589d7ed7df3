import { at, ask, getAll } from './api.js'
import { copyable, el, say } from './dom.js'
import { several } from './format.js'
import { badge, facts, moment, whenThere } from './parts.js'
import { confirmRevoke } from './keys.js'

export function homeView(page) {
  const { me } = page
  const content = [el('h1', {}, 'Projects')]
  if (me.tenants.length === 0) content.push(noOrganization(me))
  for (const tenant of me.tenants) content.push(organization(tenant))
  return { title: 'Projects', content }
}

function noOrganization({ email, id }) {
  return el(
    'div',
    { class: 'card' },
    el('p', {}, 'You belong to no organization yet.'),
    el('p', {}, `Ask an administrator to add you, by your e-mail ${email} or by your id:`),
    copyable(id),
  )
}

function organization(tenant) {
  const parts = el('div', {})
  const section = el(
    'section',
    { 'aria-label': tenant.name },
    el('h2', {}, tenant.name, ' ', el('span', { class: 'role' }, tenant.role)),
    parts,
  )
  const show = () =>
    parts.replaceChildren(
      whenThere(
        Promise.all([getAll(at`/api/v2/tenants/${tenant.id}/projects`), legacyKeys(tenant)]),
        ([projects, legacy]) => [projectList(tenant, projects), legacyList(tenant, legacy, show)],
      ),
    )
  show()
  return section
}

function projectList(tenant, projects) {
  if (projects.length === 0)
    return el(
      'p',
      { class: 'empty' },
      'There is no project here that you can see. An administrator can make one, or grant you a role on one.',
    )
  const roleOf = new Map(tenant.projects.map(({ id, role }) => [id, role]))
  const teamOf = new Map(tenant.teams.map(({ id, name }) => [id, name]))
  return el(
    'ul',
    { class: 'tiles' },
    ...projects.map(({ id, name, team }) =>
      el(
        'li',
        {},
        el('a', { class: 'tile', href: `#/t/${encodeURIComponent(tenant.id)}/p/${encodeURIComponent(id)}/keys` }, name),
        el(
          'p',
          { class: 'fine' },
          roleOf.get(id) ?? 'No role on this project',
          teamOf.has(team) && ` · team ${teamOf.get(team)}`,
        ),
      ),
    ),
  )
}

/** Keys that are bound to no project are nowhere else on the page. */
async function legacyKeys(tenant) {
  const keys = await getAll(at`/api/v2/tenants/${tenant.id}/keys`)
  return keys.filter(({ state }) => state === 'NeedsReissue')
}

function legacyList(tenant, keys, again) {
  if (keys.length === 0) return null
  const revoke = (key) =>
    confirmRevoke(key, async () => {
      await ask('POST', at`/api/v2/tenants/${tenant.id}/keys/${key.id}/revoke`)
      say(`The key ${key.name} is revoked.`)
      again()
    })
  return el(
    'section',
    { class: 'card warn' },
    el('h3', {}, `${several(keys.length, 'key')} from before keys were bound to projects`),
    el(
      'p',
      {},
      'They can call nothing. Open the project that each was used for, create a new key there, and revoke the old one.',
    ),
    el(
      'ul',
      { class: 'keys' },
      ...keys.map((key) =>
        el(
          'li',
          {},
          el('div', { class: 'key-head' }, el('strong', {}, key.name), badge(key.state)),
          facts(['Secret', el('code', {}, `${key.prefix}…`)], ['Created', moment(key.createdAt, { day: true })]),
          el(
            'div',
            { class: 'buttons' },
            el(
              'button',
              { type: 'button', class: 'danger', 'aria-label': `Revoke ${key.name}`, onclick: () => revoke(key) },
              'Revoke',
            ),
          ),
        ),
      ),
    ),
  )
}
