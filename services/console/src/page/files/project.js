import { at, get } from './api.js'
import { el } from './dom.js'
import { usd } from './format.js'
import { invocationsPart } from './invocations.js'
import { keysPart } from './keys.js'
import { whenThere } from './parts.js'
import { sandboxesPart } from './sandboxes.js'
import { usagePart } from './usage.js'

const parts = {
  keys: ['Keys', keysPart],
  sandboxes: ['Sandboxes', sandboxesPart],
  usage: ['Usage', usagePart],
  invocations: ['Invocations', invocationsPart],
}

export function projectView(page, { tenant, project, part, thing }) {
  const [partName, showPart] = parts[part] ?? parts.keys
  const path = at`/api/v2/tenants/${tenant}/projects/${project}`
  const organization = page.me.tenants.find(({ id }) => id === tenant)
  const granted = organization?.projects.find(({ id }) => id === project)
  const heading = el('h1', {}, granted?.name ?? 'Project')
  if (!granted) void nameOf(tenant, project).then((name) => name && (heading.textContent = name))
  const where = { tenant, project, thing, path, tenantPath: at`/api/v2/tenants/${tenant}` }

  const link = (name) => {
    const href = `#/t/${encodeURIComponent(tenant)}/p/${encodeURIComponent(project)}/${name}`
    return el('a', { href, 'aria-current': parts[name][0] === partName && 'page' }, parts[name][0])
  }
  return {
    title: `${partName} · ${granted?.name ?? 'Project'}`,
    content: [
      el('p', { class: 'crumb' }, el('a', { href: '#/' }, organization?.name ?? 'Projects')),
      heading,
      wallet(path),
      el('nav', { class: 'tabs', 'aria-label': 'Project' }, partsFor(granted?.role).map(link)),
      el(
        'section',
        { 'aria-label': partName },
        el('h2', { class: 'visually-hidden' }, partName),
        showPart(page, where),
      ),
    ],
  }
}

/** Sandbox products are for those who may use the project; to everybody else it has none. */
function partsFor(role) {
  const usesSandboxes = role === 'Project Owner' || role === 'Project Consumer'
  return Object.keys(parts).filter((part) => part !== 'sandboxes' || usesSandboxes)
}

async function nameOf(tenant, project) {
  const { data } = await get(`${at`/api/v2/tenants/${tenant}/projects`}?limit=500`).catch(() => ({ data: [] }))
  return data.find(({ id }) => id === project)?.name
}

/** What the project has and has spent. */
function wallet(path) {
  const shown = whenThere(get(`${path}/wallet`), ({ fundedMicro, settledMicro, reservedMicro, availableMicro }) => [
    el(
      'dl',
      { class: 'figures' },
      figure('Available', availableMicro, 'main-figure'),
      figure('Reserved for running calls', reservedMicro),
      figure('Spent', settledMicro),
      figure('Funded in all', fundedMicro),
    ),
    el('meter', {
      'aria-label': 'Available of what was funded',
      min: 0,
      max: Math.max(fundedMicro, 1),
      low: fundedMicro / 10,
      value: availableMicro,
    }),
    availableMicro === 0 &&
      el('p', { class: 'notice' }, 'The wallet is empty: calls are refused until an operator funds the project.'),
  ])
  return el('section', { 'aria-label': 'Wallet', class: 'wallet' }, shown)
}

function figure(name, micro, kind = '') {
  return el('div', { class: kind }, el('dt', {}, name), el('dd', {}, usd(micro)))
}
