import { exampleIds } from '@gateway/api/example-ids'
import { refuse } from '@gateway/api/refusal'
import { expect, vi } from 'vitest'
import { page } from 'vitest/browser'
import { tableCsv } from '../components/table-rows.ts'
import { callCsvColumns } from './call-columns.tsx'
import { contractExample, pageTest as test, project } from '../page-test.fixture.tsx'

const [call] = contractExample('listInvocations').data
const latency = { calls: 1, latencyP50Ms: 900, latencyP95Ms: 1_800, firstTokenP50Ms: null, firstTokenP95Ms: null }

test('calls are listed most expensive first, with the percentiles of those that match', async ({ api, open }) => {
  api.answer('listInvocations', { data: [call!], nextCursor: null, latency })
  const { screen } = await open(`${project}/calls?since=yesterday`)
  await expect.element(screen.getByText('Latency p50 900 ms, p95 1.8 s', { exact: false })).toBeVisible()
  await screen.getByRole('combobox', { name: 'Order' }).click()
  await page.getByRole('option', { name: 'Most expensive first' }).click()
  await expect.element(screen.getByRole('table', { name: 'Calls, most expensive first' })).toBeVisible()
  const asked = () => api.asked('listInvocations').findLast(({ query }) => query['order'] === 'cost')?.query
  await expect.poll(asked).toMatchObject({ order: 'cost', from: expect.any(String), to: expect.any(String) })
  await screen.getByRole('searchbox', { name: 'Call, request, execution or key ID' }).fill('key_9')
  await screen.getByRole('button', { name: 'Open' }).click()
  await expect.poll(() => api.asked('listInvocations').at(-1)?.query).toMatchObject({ key: 'key_9' })
})

test('the file of calls has the IDs of call and key, and no cost of an open call', () => {
  const open = { ...call!, state: 'Open' as const, chargedMicro: 0 }
  const file = tableCsv(callCsvColumns(exampleIds), [open, { ...call!, chargedMicro: 1_500_000 }])
  const [head, ...rows] = file.split('\r\n').map((line) => line.split(','))
  const cells = (name: string) => rows.slice(0, 2).map((row) => row[head!.indexOf(name)])
  expect([cells('Call'), cells('Key ID'), cells('Cost')]).toEqual([
    [call!.id, call!.id],
    [call!.key, call!.key],
    ['', '1.5'],
  ])
})

test('a request ID leads to the call or the execution that the request made', async ({ api, open }) => {
  api.answer('readInvocation', refuse('not_found', {}))
  const execution = contractExample('readExecution')
  api.answer('readExecution', execution)
  const { screen, address, goTo } = await open(`${project}/calls/req_1`)
  await expect.poll(() => address().href).toContain(`/flows/${execution.sandbox}?execution=`)
  api.answer('readExecution', refuse('execution_not_found', { execution: 'exe_2' }))
  await goTo(`${project}/calls/req_2`)
  await expect.element(screen.getByRole('heading', { name: 'No call has this request ID' })).toBeVisible()
  api.answer('readInvocation', { ...call!, id: 'inv_3' })
  await goTo(`${project}/calls/req_3`)
  await expect.poll(() => address().href).toContain('/calls/inv_3')
})

test('the live list announces new calls', async ({ api, open }) => {
  api.answer('listInvocations', { data: [call!], nextCursor: null })
  const { screen } = await open(`${project}/calls`)
  await screen.getByRole('button', { name: 'Live: off' }).click()
  const newer = ['inv_2', 'inv_1'].map((id) => ({ ...call!, id }))
  api.answer('listInvocations', { data: [...newer, call!], nextCursor: null })
  await expect.element(screen.getByText('2 new calls')).toBeInTheDocument()
})

test('the live list announces no calls of another filter, and none in order of cost', async ({ api, open }) => {
  const other = { ...call!, id: 'inv_other', model: 'acme/other' }
  api.answer('listInvocations', { data: [call!], nextCursor: null })
  const { screen, goTo } = await open(`${project}/calls`)
  await screen.getByRole('button', { name: 'Live: off' }).click()
  api.answer('listInvocations', { data: [other], nextCursor: null })
  for (const filter of ['state=Settled', 'order=cost']) {
    await goTo(`${project}/calls?${filter}`)
    await expect.element(screen.getByText('acme/other')).toBeVisible()
    await expect.element(screen.getByText(/new call/)).not.toBeInTheDocument()
  }
  api.answer('listInvocations', { data: [call!, other], nextCursor: null })
  await expect.poll(() => screen.getByRole('table').getByRole('row').elements()).toHaveLength(3)
  await expect.element(screen.getByText(/new call/)).not.toBeInTheDocument()
})

test('the content of a call that has just closed appears as soon as it is stored', async ({ api, open }) => {
  const [record] = contractExample('listProjects').data
  const capture = { retentionDays: 7, hide: [], patterns: [] }
  api.answer('listProjects', { data: [{ ...record!, id: exampleIds.project, capture }], nextCursor: null })
  api.answer('readInvocation', { ...call!, closedAt: new Date().toISOString() })
  api.answer('readContent', refuse('not_found', {}))
  const { screen, goTo } = await open(`${project}/calls/inv_1`)
  await expect.element(screen.getByText('Being stored…')).toBeVisible()
  api.answer('readContent', contractExample('readContent'))
  await expect.element(screen.getByText('Dear customer, …')).toBeVisible()
  api.answer('readInvocation', { ...call!, id: 'inv_2', closedAt: '2026-01-01T00:00:00.000Z' })
  api.answer('readContent', refuse('not_found', {}))
  await goTo(`${project}/calls/inv_2`)
  await expect.element(screen.getByText('Nothing was captured for this call', { exact: false })).toBeVisible()
})

test('content that is being stored is looked for a number of times, and not without the right', async ({
  api,
  open,
  onTestFinished,
}) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const [record] = contractExample('listProjects').data
  const capture = { retentionDays: 7, hide: [], patterns: [] }
  api.answer('listProjects', { data: [{ ...record!, id: exampleIds.project, capture }], nextCursor: null })
  // The clock of this browser may be a few minutes behind the one of the service.
  const closedAt = new Date(Date.now() + 5 * 60_000).toISOString()
  const looks = () => api.asked('readContent').length
  const { screen, goTo } = await open('/account')
  /** Opens a call whose content is never stored. @returns the number of reads of the page, before it stops */
  const looksAt = async (id: string, then = () => {}) => {
    const before = looks()
    api.answer('readInvocation', { ...call!, id, closedAt })
    api.answer('readContent', refuse('not_found', {}))
    await goTo(`${project}/calls/${id}`)
    await expect.element(screen.getByText('Being stored…')).toBeVisible()
    then()
    const waits = () => screen.getByText('Being stored…').elements().length
    await expect.poll(() => vi.advanceTimersByTimeAsync(2_000).then(waits), { interval: 1 }).toBe(0)
    const made = looks() - before
    await vi.advanceTimersByTimeAsync(60_000)
    expect(looks() - before).toBe(made)
    return made
  }
  expect(await looksAt('inv_1')).toBe(30)
  await expect.element(screen.getByText('Nothing was captured for this call', { exact: false })).toBeVisible()
  const refused = refuse('not_permitted', { need: 'the right' })
  expect(await looksAt('inv_2', () => api.answer('readContent', refused))).toBe(2)
  await expect.element(screen.getByText('This needs the right “Captured content”.', { exact: false })).toBeVisible()
})

test('only a call of a chat model that the project can call leads to the playground', async ({ api, open }) => {
  const [model] = contractExample('listProducts').data
  const [assignment] = contractExample('listAssignments').data
  const ids = ['acme/chat', 'acme/vectors', 'acme/suspended'] as const
  const products = [model!, { ...model!, kind: 'embedding' as const }, { ...model!, state: 'suspended' as const }]
  api.answer('listProducts', { data: products.map((each, n) => ({ ...each, id: ids[n]! })), nextCursor: null })
  api.answer('listAssignments', { data: ids.map((product) => ({ ...assignment!, product })), nextCursor: null })
  const { screen, goTo } = await open(`${project}/calls`)
  const link = screen.getByRole('link', { name: 'Open in playground' })
  for (const [n, id] of [...ids, 'acme/gone'].entries()) {
    api.answer('readInvocation', { ...call!, model: id })
    await goTo(`${project}/calls/inv_${n}`)
    await expect.element(screen.getByRole('region', { name: 'Call details' }).getByText(id)).toBeVisible()
    if (id === 'acme/chat') await expect.element(link).toBeVisible()
    else await expect.element(link).not.toBeInTheDocument()
  }
})

test('filters are saved as a view of this browser, opened again and deleted', async ({ api, open, onTestFinished }) => {
  onTestFinished(() => localStorage.clear())
  api.answer('listInvocations', { data: [], nextCursor: null })
  const { screen } = await open(`${project}/calls?state=Released`)
  await screen.getByRole('button', { name: 'Views' }).click()
  await page.getByRole('menuitem', { name: 'Save this view…' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('Failed calls')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect.element(screen.getByRole('button', { name: 'View: Failed calls' })).toBeVisible()
  await screen.getByRole('button', { name: /Remove filter state/ }).click()
  await screen.getByRole('button', { name: 'Views' }).click()
  await page.getByRole('menuitem', { name: 'Failed calls' }).click()
  await expect.poll(() => api.asked('listInvocations').at(-1)?.query).toMatchObject({ state: 'Released' })
  await screen.getByRole('button', { name: 'View: Failed calls' }).click()
  await page.getByRole('menuitem', { name: 'Delete view Failed calls' }).click()
  await expect.element(screen.getByRole('button', { name: 'Views' })).toBeVisible()
})

test('calls name their keys from one request for these keys, and the filter reads all keys when it opens', async ({
  api,
  open,
}) => {
  const [key] = contractExample('listKeys').data
  const keys = ['key_1', 'key_2'].map((id) => ({ ...key!, id, name: `Name of ${id}` }))
  api.answer('listKeys', { data: keys, nextCursor: null })
  const calls = ['key_1', 'key_2', 'key_1'].map((of, n) => ({ ...call!, id: `inv_${n}`, key: of }))
  api.answer('listInvocations', { data: calls, nextCursor: null })
  const { screen } = await open(`${project}/calls`)
  await expect.element(screen.getByText('Name of key_2')).toBeVisible()
  expect(api.asked('listKeys').map(({ query }) => query['ids'])).toEqual(['key_1,key_2'])
  await screen.getByRole('combobox', { name: 'Key' }).click()
  await page.getByRole('option', { name: 'Name of key_1' }).click()
  await expect.poll(() => api.asked('listInvocations').at(-1)?.query).toMatchObject({ key: 'key_1' })
  await expect.element(screen.getByRole('button', { name: 'Remove filter key: Name of key_1' })).toBeVisible()
})

test('a view saved here leaves those that another window has saved', async ({ open }) => {
  const { screen } = await open(`${project}/calls?state=Settled`)
  const save = async (name: string) => {
    await screen.getByRole('button', { name: /^View/ }).click()
    await page.getByRole('menuitem', { name: 'Save this view…' }).click()
    await screen.getByRole('dialog').getByLabelText('Name').fill(name)
    await screen.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  }
  await save('Here')
  const stored = Object.keys(localStorage).find((each) => each.startsWith('console-call-views'))!
  const elsewhere = [{ name: 'Elsewhere', filters: { state: 'Open' } }]
  localStorage.setItem(
    stored,
    JSON.stringify([...(JSON.parse(localStorage.getItem(stored)!) as object[]), ...elsewhere]),
  )
  await save('Later')
  const names = (JSON.parse(localStorage.getItem(stored)!) as { name: string }[]).map(({ name }) => name)
  expect(names).toEqual(['Here', 'Elsewhere', 'Later'])
})

test('the end of the list says before which day calls are archived', async ({ api, open }) => {
  const archived = { nextCursor: null, archivedBefore: '2026-05-01' }
  api.answer('listInvocations', { data: [call!], ...archived })
  const { screen, goTo } = await open(`${project}/calls`)
  const note = screen.getByText('Calls before 2026-05-01 (UTC) are in the archive, not in this list.')
  await expect.element(note).toBeVisible()
  api.answer('listInvocations', { data: [], ...archived })
  await goTo(`${project}/calls?order=cost`)
  await expect.element(screen.getByRole('heading', { name: 'No matching calls' })).toBeVisible()
  await expect.element(note).toBeVisible()
  await goTo(`${project}/calls`)
  await expect.element(screen.getByRole('heading', { name: 'No recent calls' })).toBeVisible()
})
