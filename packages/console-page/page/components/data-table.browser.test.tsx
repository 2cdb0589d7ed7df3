import { useState } from 'react'
import { expect } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { choose, pageTest as test } from '../page-test.fixture.tsx'
import { FormattedText } from '../playground/components/formatted-text.tsx'
import { DataList } from './data-list.tsx'
import { DataTable, type Column } from './data-table.tsx'

interface Row {
  name: string
  usedAt: string | null
  calls: number | null
}

const rows: Row[] = [
  { name: 'key 10', usedAt: '2026-11-02', calls: 9 },
  { name: 'key 9', usedAt: null, calls: null },
  { name: 'Key 2', usedAt: '2026-11-23', calls: 120 },
]
const columns: Column<Row>[] = [
  { head: 'Key', cell: ({ name }) => name, sortBy: ({ name }) => name },
  { head: 'Last used', cell: ({ usedAt }) => usedAt ?? 'Never', sortBy: ({ usedAt }) => usedAt },
  { head: 'Calls', cell: ({ calls }) => calls ?? 'None', sortBy: ({ calls }) => calls, isNumber: true },
  { head: 'Note', cell: () => 'none' },
]
const head = (name: string) => page.getByRole('columnheader', { name })
const names = () =>
  page
    .getByRole('rowheader')
    .elements()
    .map((cell) => cell.textContent)

test('a table sorts by a column in both directions, says so, and keeps rows without a value last', async ({ show }) => {
  await show(<DataTable caption="Keys" columns={columns} rows={rows} keyOf={({ name }) => name} />)
  expect(names()).toEqual(['key 10', 'key 9', 'Key 2'])
  for (const [column, up, down] of [
    ['Key', ['Key 2', 'key 9', 'key 10'], ['key 10', 'key 9', 'Key 2']],
    ['Last used', ['key 10', 'Key 2', 'key 9'], ['Key 2', 'key 10', 'key 9']],
    ['Calls', ['key 10', 'Key 2', 'key 9'], ['Key 2', 'key 10', 'key 9']],
  ] as const) {
    const seen: Record<string, (string | null)[]> = {}
    for (let click = 0; click < 2; click++) {
      await head(column).getByRole('button').click()
      await expect.element(head(column)).toHaveAttribute('aria-sort')
      seen[head(column).element().getAttribute('aria-sort')!] = names()
    }
    expect([column, seen]).toEqual([column, { ascending: up, descending: down }])
  }
  await expect.element(head('Key')).not.toHaveAttribute('aria-sort')
  await expect.element(head('Note').getByRole('button', { name: 'Note' })).not.toBeInTheDocument()
})

test('on a narrow screen rows are cards, except those of a name and a figure, and the table of an answer', async ({
  show,
  onTestFinished,
}) => {
  await page.viewport(390, 844)
  onTestFinished(() => page.viewport(1440, 900))
  const table = (shown: Column<Row>[]) => (
    <DataTable caption="Keys" columns={shown} rows={rows} keyOf={({ name }) => name} />
  )
  const inCards: [columns: Column<Row>[], isInCards: boolean][] = [
    [columns, true],
    [[columns[0]!, columns[1]!], true],
    [[columns[0]!, columns[2]!], false],
  ]
  for (const [shown, isInCards] of inCards) {
    const { unmount } = await show(table(shown))
    const isShown = document.querySelector('thead')!.checkVisibility()
    expect([shown.length, isShown]).toEqual([shown.length, !isInCards])
    await unmount()
  }
  await show(<FormattedText text={'| City | Rain |\n|-|-|\n| Bergen | yes |'} />)
  await expect.element(page.getByText('City')).toBeVisible()
})

const sortBy = page.getByRole('combobox', { name: 'Sort by' })
const order = page.getByRole('combobox', { name: 'Order' })

test('cards are sorted by a column in both directions', async ({ show, onTestFinished }) => {
  onTestFinished(() => page.viewport(1440, 900))
  const { unmount } = await show(<DataTable caption="Keys" columns={columns} rows={rows} keyOf={({ name }) => name} />)
  await expect.element(sortBy).not.toBeInTheDocument()
  await page.viewport(390, 844)
  await expect.element(order).not.toBeInTheDocument()
  await choose(sortBy, 'Calls')
  await expect.poll(names).toEqual(['Key 2', 'key 10', 'key 9'])
  await choose(order, 'Ascending')
  await expect.poll(names).toEqual(['key 10', 'Key 2', 'key 9'])
  await choose(sortBy, 'Key')
  await expect.element(order).toHaveTextContent('Ascending')
  expect(names()).toEqual(['Key 2', 'key 9', 'key 10'])
  await unmount()
  await show(<DataTable caption="Keys" columns={columns} rows={rows.slice(1, 2)} keyOf={({ name }) => name} />)
  await expect.element(sortBy).not.toBeInTheDocument()
})

test('cards of a list that its service sorts are sorted by it', async ({ show, onTestFinished }) => {
  await page.viewport(390, 844)
  onTestFinished(() => page.viewport(1440, 900))
  const asked: string[] = []
  function Served() {
    const [now, setNow] = useState('Key asc')
    const served = (head: string): Column<Row> => {
      const next = now === `${head} asc` ? 'desc' : 'asc'
      const onToggle = () => {
        asked.push(`${head} ${next}`)
        setNow(`${head} ${next}`)
      }
      const [by, direction] = now.split(' ')
      return { head, cell: ({ name }) => name, served: { order: by === head ? (direction as 'asc') : null, onToggle } }
    }
    const all = [served('Key'), served('Calls'), columns[3]!]
    return <DataTable caption="Keys" columns={all} rows={rows} keyOf={({ name }) => name} />
  }
  await show(<Served />)
  await expect.element(sortBy).toHaveTextContent('Key')
  await choose(order, 'Descending')
  await choose(sortBy, 'Calls')
  await expect.element(order).toHaveTextContent('Ascending')
  await choose(order, 'Descending')
  await expect.element(order).toHaveTextContent('Descending')
  expect(asked).toEqual(['Key desc', 'Calls asc', 'Calls desc'])
})

test('a table is sorted with the keyboard', async ({ show }) => {
  await show(<DataTable caption="Keys" columns={columns} rows={rows} keyOf={({ name }) => name} />)
  head('Key').getByRole('button').element().focus()
  await userEvent.keyboard('{Enter}')
  await expect.element(head('Key')).toHaveAttribute('aria-sort', 'ascending')
  await expect.element(head('Key').getByRole('button')).toHaveFocus()
  expect(names()).toEqual(['Key 2', 'key 9', 'key 10'])
})

test('a list of 2,000 rows renders 100 at a time, sorts and searches all of them', async ({ show }) => {
  const many = Array.from({ length: 2_000 }, (_, n): Row => ({ name: `key ${n}`, usedAt: null, calls: n }))
  await show(
    <DataList
      name="many"
      caption="Keys"
      columns={columns}
      rows={many}
      keyOf={({ name }) => name}
      searchBy={({ name }) => name}
    />,
  )
  expect(names()).toHaveLength(100)
  await page.getByRole('button', { name: 'Show more' }).click()
  await expect.poll(() => names().length).toBe(200)
  await expect.element(page.getByText('1,800 rows left')).toBeVisible()
  await head('Calls').getByRole('button').click()
  await expect.poll(() => names()[0]).toBe('key 1999')
  await page.getByRole('searchbox').fill('key 1500')
  await expect.poll(names).toEqual(['key 1500'])
  await expect.element(page.getByRole('button', { name: 'Show more' })).not.toBeInTheDocument()
})
