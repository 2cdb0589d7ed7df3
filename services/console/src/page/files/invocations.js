import { getPage } from './api.js'
import { el, table, working } from './dom.js'
import { count, usd } from './format.js'
import { keyNames } from './names.js'
import { badge, moment, problemBox, whenThere } from './parts.js'

const PAGE = 50

/** The calls of a project, newest first. */
export function invocationsPart(_page, where) {
  const path = `${where.path}/invocations`
  return whenThere(Promise.all([getPage(path, null, PAGE), keyNames(where)]), ([first, names]) =>
    invocationList(path, names, first),
  )
}

function invocationList(path, names, first) {
  if (first.data.length === 0) return el('p', { class: 'empty' }, 'Nothing was called yet.')
  const rows = [...first.data]
  let { nextCursor } = first
  const container = el('div', {})
  const problem = problemBox()
  const more = el('button', { type: 'button', class: 'secondary' }, 'Show more')
  const show = () => {
    container.replaceChildren(table('Invocations', columns(names), rows))
    more.hidden = nextCursor === null
  }
  more.addEventListener(
    'click',
    working(more, async () => {
      problem.clear()
      try {
        const next = await getPage(path, nextCursor, PAGE)
        rows.push(...next.data)
        nextCursor = next.nextCursor
        show()
      } catch (error) {
        problem.show(error)
      }
    }),
  )
  show()
  return [container, problem.element, el('div', { class: 'buttons' }, more)]
}

function columns(names) {
  const tokens = (number, estimated) => (number === null ? '–' : `${count(number)}${estimated ? ' (estimated)' : ''}`)
  return [
    { head: 'Invocation', cell: ({ id, createdAt }) => [moment(createdAt), el('code', { class: 'id' }, id)] },
    { head: 'Model', cell: ({ model }) => model },
    {
      head: 'By',
      cell: ({ key, execution, node }) => [
        key === null ? 'a person, in the console' : (names.get(key) ?? el('code', {}, key)),
        execution && el('code', { class: 'id' }, `${execution} ${node}`),
      ],
    },
    { head: 'State', cell: ({ state }) => badge(state) },
    { head: 'Prompt', number: true, cell: (row) => tokens(row.promptTokens, row.estimated) },
    { head: 'Completion', number: true, cell: (row) => tokens(row.completionTokens, row.estimated) },
    {
      head: 'Charged',
      number: true,
      cell: ({ state, chargedMicro, reservedMicro }) =>
        state === 'Open' ? `up to ${usd(reservedMicro)}` : usd(chargedMicro),
    },
  ]
}
