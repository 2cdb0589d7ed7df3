import { get } from './api.js'
import { el, field, table } from './dom.js'
import { count, several, usd } from './format.js'
import { keyNames } from './names.js'
import { whenThere } from './parts.js'

const groupings = [
  ['day', 'day'],
  ['model', 'model'],
  ['key', 'key'],
]
const periods = [
  ['7', 'the last 7 days'],
  ['30', 'the last 30 days'],
  ['90', 'the last 90 days'],
]

/** What was called and charged, by day, model or key. */
export function usagePart(_page, where) {
  const by = el('select', {}, ...groupings.map(([value, text]) => el('option', { value }, text)))
  const period = el(
    'select',
    {},
    ...periods.map(([value, text]) => el('option', { value, selected: value === '30' }, text)),
  )
  const container = el('div', {})
  const show = () =>
    container.replaceChildren(
      whenThere(
        Promise.all([report(where, by.value, Number(period.value)), by.value === 'key' ? keyNames(where) : new Map()]),
        ([usage, names]) => usageShown(usage, names),
      ),
    )
  by.addEventListener('change', show)
  period.addEventListener('change', show)
  show()
  return [el('div', { class: 'bar' }, field('By', by), field('In', period)), container]
}

/** Whole days in UTC, up to now. */
function report({ path }, by, days) {
  const now = new Date()
  const from = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() - days + 1))
  const query = new URLSearchParams({
    by,
    from: from.toISOString(),
    to: new Date(now.getTime() + 60_000).toISOString(),
  })
  return get(`${path}/usage?${query}`)
}

function usageShown({ by, data, totalMicro }, names) {
  if (data.length === 0) return el('p', { class: 'empty' }, 'Nothing was called in this time.')
  const rows = by === 'day' ? data.toReversed() : data.toSorted((a, b) => b.chargedMicro - a.chargedMicro)
  const most = Math.max(...rows.map(({ chargedMicro }) => chargedMicro), 1)
  const calls = rows.reduce((sum, row) => sum + row.calls, 0)
  const share = ({ group, chargedMicro }) =>
    el('meter', {
      class: 'share',
      min: 0,
      max: most,
      value: chargedMicro,
      'aria-label': `Charged for ${group ?? 'people'}`,
    })
  return [
    el('p', { class: 'total' }, el('strong', {}, usd(totalMicro)), ` for ${several(calls, 'call')}`),
    table(
      'Usage',
      [
        {
          head: by === 'day' ? 'Day, UTC' : by === 'key' ? 'Key' : 'Model',
          cell: ({ group }) => (group === null ? 'People, in the console' : (names.get(group) ?? group)),
        },
        { head: 'Calls', number: true, cell: (row) => count(row.calls) },
        { head: 'Prompt tokens', number: true, cell: (row) => count(row.promptTokens) },
        { head: 'Completion tokens', number: true, cell: (row) => count(row.completionTokens) },
        { head: 'Charged', number: true, cell: (row) => [usd(row.chargedMicro), share(row)] },
      ],
      rows,
    ),
  ]
}
