import { expect } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { exampleIds } from '@gateway/api/example-ids'
import { choose, contractExample, pageTest as test, showTabAgain } from '../page-test.fixture.tsx'

const flow = `/flows/${exampleIds.sandbox}`

test('a save during another save waits for it, and builds on its revision', async ({ api, open }) => {
  const first = Promise.withResolvers<void>()
  const begin = contractExample('saveRevision')
  let number = begin.number
  api.answer('saveRevision', async ({ graph, baseRevision }) => {
    if (baseRevision === begin.number) await first.promise
    return { ...begin, graph, number: ++number }
  })
  const { screen } = await open(`/projects/${exampleIds.tenant}/${exampleIds.project}${flow}`)
  await screen.getByRole('button', { name: 'Auto-layout' }).click()
  await expect.element(screen.getByText('Unsaved')).toBeVisible()
  await userEvent.keyboard('{Control>}s{/Control}')
  await expect.poll(() => api.asked('saveRevision').length).toBe(1)
  await userEvent.keyboard('{Control>}s{/Control}')
  await screen.getByRole('button', { name: /^Branch/ }).click()
  await expect.element(screen.getByRole('group', { name: /^Branch/ })).toBeVisible()
  first.resolve()
  await expect.poll(() => api.asked('saveRevision').length).toBe(2)
  const [one, two] = api.asked('saveRevision')
  expect(two!.body.baseRevision).toBe(begin.number + 1)
  expect(two!.body.graph.nodes.length).toBe(one!.body.graph.nodes.length + 1)
  expect([one!.body.draft, two!.body.draft]).toEqual([false, true]) // the new branch is not wired yet
  expect(screen.getByRole('dialog').query()).toBeNull()
})

test('Save keeps the focus when there is nothing left to save', async ({ api, open }) => {
  const { number, ...saved } = contractExample('saveRevision')
  api.answer('saveRevision', ({ graph }) => ({ ...saved, graph, number: number + 1 }))
  const { screen } = await open(`/projects/${exampleIds.tenant}/${exampleIds.project}${flow}`)
  await screen.getByRole('button', { name: 'Auto-layout' }).click()
  const save = screen.getByRole('button', { name: 'Save', exact: true })
  save.element().focus()
  await userEvent.keyboard('{Enter}')
  await expect.element(screen.getByText(`Revision ${number + 1}`)).toBeVisible()
  await expect.element(save).toBeDisabled()
  await expect.element(save).toHaveFocus()
  await userEvent.keyboard('{Enter}')
  expect(api.asked('saveRevision')).toHaveLength(1)
})

test('the focused element keeps the focus when the window gets wide', async ({ open }) => {
  await page.viewport(800, 800)
  const { screen } = await open(`/projects/${exampleIds.tenant}/${exampleIds.project}${flow}`)
  const tab = screen.getByRole('button', { name: 'JSON' })
  await tab.click()
  await expect.element(tab).toHaveFocus()
  await page.viewport(1280, 800)
  await expect.element(screen.getByRole('separator', { name: 'Resize the details' })).toBeInTheDocument()
  await expect.element(tab).toHaveFocus()
})

test('a window that was narrow for a while has the panels that were open', async ({ open }) => {
  await page.viewport(1280, 800)
  const { screen } = await open(`/projects/${exampleIds.tenant}/${exampleIds.project}${flow}`)
  const handle = screen.getByRole('separator', { name: 'Resize the inspector' })
  await expect.element(handle).toHaveAttribute('aria-valuenow', '340')
  await page.viewport(360, 800)
  await expect.element(handle).not.toBeInTheDocument()
  await page.viewport(1280, 800)
  await expect.element(handle).toBeInTheDocument()
  await expect.element(screen.getByRole('complementary', { name: 'Inspector' })).toBeVisible()
})

test('with a closed panel, the page does not scroll sideways', async ({ open }) => {
  await page.viewport(1280, 800)
  const { screen } = await open(`/projects/${exampleIds.tenant}/${exampleIds.project}${flow}`)
  const handle = screen.getByRole('separator', { name: 'Resize the inspector' })
  await expect.element(handle).toHaveAttribute('aria-valuenow', '340')
  await userEvent.keyboard('{Control>}i{/Control}')
  await expect.element(handle).toHaveAttribute('aria-valuenow', '0')
  expect(document.documentElement.scrollWidth).toBe(innerWidth)
})

test('a revision that another user saves leaves the open editor and its history alone', async ({ api, open }) => {
  const { screen } = await open(`/projects/${exampleIds.tenant}/${exampleIds.project}${flow}`)
  await screen.getByRole('button', { name: /^Branch/ }).click()
  await expect.element(screen.getByRole('group', { name: /^Branch/ })).toBeVisible()
  const reads = api.asked('readRevision').length
  const sandbox = contractExample('readSandbox')
  api.answer('readSandbox', { ...sandbox, latestRevision: sandbox.latestRevision + 1 })
  api.answer('readRevision', Promise.withResolvers<never>().promise)
  showTabAgain()
  await expect.poll(() => api.asked('readRevision').length).toBeGreaterThan(reads)
  await screen.getByRole('button', { name: 'Undo' }).click()
  await expect.element(screen.getByRole('group', { name: /^Branch/ })).not.toBeInTheDocument()
})

test('once restored changes are saved, later ones are not taken for them', async ({ api, open }) => {
  const address = `/projects/${exampleIds.tenant}/${exampleIds.project}${flow}`
  const first = await open(address)
  await first.screen.getByRole('button', { name: /^Branch/ }).click()
  await expect.element(first.screen.getByText('Unsaved')).toBeVisible()
  await first.screen.unmount()
  const { screen } = await open(address)
  const notice = screen.getByText(/^Restored your unsaved changes/)
  await expect.element(notice).toBeVisible()
  const { number, ...saved } = contractExample('saveRevision')
  api.answer('saveRevision', ({ graph }) => ({ ...saved, graph, number: number + 1 }))
  await userEvent.keyboard('{Control>}s{/Control}')
  await expect.element(screen.getByText(`Revision ${number + 1}`, { exact: true })).toBeVisible()
  await screen.getByRole('button', { name: /^Constant/ }).click()
  await expect.element(screen.getByText('Unsaved')).toBeVisible()
  await expect.element(notice).not.toBeInTheDocument()
})

test('a window keeps its changes that another one overwrites or removes', async ({ open }) => {
  const { screen } = await open(`/projects/${exampleIds.tenant}/${exampleIds.project}${flow}`)
  const drafts = () => Object.entries(localStorage).filter(([key]) => key.startsWith('flow-draft'))
  await screen.getByRole('button', { name: /^Branch/ }).click()
  await expect.poll(drafts).toHaveLength(1)
  const [[key, mine]] = drafts() as [[string, string]]
  localStorage.setItem(key, 'theirs')
  dispatchEvent(new StorageEvent('storage', { key, newValue: 'theirs' }))
  await expect.poll(drafts).toHaveLength(2)
  expect(localStorage.getItem(key)).toBe('theirs')
  const [own, kept] = drafts().find(([each]) => each !== key)!
  const graphIn = (draft: string) => (JSON.parse(draft) as { graph: object }).graph
  expect(graphIn(kept)).toEqual(graphIn(mine))
  localStorage.removeItem(own)
  dispatchEvent(new StorageEvent('storage', { key: own, newValue: null }))
  await expect.poll(() => localStorage.getItem(own)).not.toBeNull()
})

test('restored changes that were discarded are based on their own revision again after an undo', async ({
  api,
  open,
}) => {
  const address = `/projects/${exampleIds.tenant}/${exampleIds.project}${flow}`
  const first = await open(address)
  await first.screen.getByRole('button', { name: /^Branch/ }).click()
  await expect.element(first.screen.getByText('Unsaved')).toBeVisible()
  await first.screen.unmount()
  const revision = contractExample('readRevision')
  api.answer('readSandbox', { ...contractExample('readSandbox'), latestRevision: revision.number + 1 })
  const theirs = { ...revision.graph, notes: [] }
  api.answer('readRevision', { ...revision, number: revision.number + 1, graph: theirs })
  const { screen } = await open(address)
  const branch = screen.getByRole('group', { name: /^Branch/ })
  await screen.getByRole('button', { name: 'Discard' }).click()
  await expect.element(branch).not.toBeInTheDocument()
  await screen.getByRole('button', { name: 'Undo' }).click()
  await expect.element(branch).toBeVisible()
  await userEvent.keyboard('{Control>}s{/Control}')
  await expect.poll(() => api.asked('saveRevision').length).toBe(1)
  expect(api.asked('saveRevision')[0]!.body.baseRevision).toBe(revision.number)
})

test('Ctrl+S saves the name that is being typed', async ({ api, open }) => {
  const { screen } = await open(`/projects/${exampleIds.tenant}/${exampleIds.project}${flow}`)
  await screen.getByRole('group', { name: /^Template ask/ }).click()
  await screen.getByLabelText('ID', { exact: true }).fill('question')
  await userEvent.keyboard('{Control>}s{/Control}')
  await expect
    .poll(() =>
      api
        .asked('saveRevision')
        .at(-1)
        ?.body.graph.nodes.map(({ id }) => id),
    )
    .toContain('question')
})

test('the execution chosen last is shown, whichever is read first', async ({ api, open }) => {
  const [listed] = contractExample('listExecutions').data
  const first = { ...listed!, id: 'exe_first' }
  api.answer('listExecutions', { data: [first, { ...listed!, id: 'exe_second' }], nextCursor: null })
  const late = Promise.withResolvers<ReturnType<typeof contractExample<'readExecution'>>>()
  const detail = { ...contractExample('readExecution'), sandbox: exampleIds.sandbox }
  const { screen, address } = await open(`/projects/${exampleIds.tenant}/${exampleIds.project}${flow}`)
  await screen.getByRole('button', { name: 'Executions' }).click()
  const show = screen.getByRole('button', { name: 'Show on canvas' })
  api.answer('readExecution', late.promise)
  await show.first().click()
  await expect.poll(() => api.asked('readExecution').length).toBe(1)
  api.answer('readExecution', { ...detail, id: 'exe_second', chargedMicro: 2_000_000 })
  await show.last().click()
  const banner = screen.getByRole('region', { name: 'Execution on the canvas' })
  await expect.element(banner.getByText('$2.00')).toBeVisible()
  late.resolve({ ...detail, id: 'exe_first', chargedMicro: 1_000_000 })
  await late.promise
  await new Promise(requestAnimationFrame)
  await expect.element(banner.getByText('$2.00')).toBeVisible()
  expect(address().search).toEqual({ execution: 'exe_second' })
})

test('an execution that is read late does not replace one that was started meanwhile', async ({ api, open }) => {
  const late = Promise.withResolvers<ReturnType<typeof contractExample<'readExecution'>>>()
  api.answer('listProducts', {
    data: [{ ...contractExample('listProducts').data[0]!, state: 'published' }],
    nextCursor: null,
  })
  const { screen } = await open(`/projects/${exampleIds.tenant}/${exampleIds.project}${flow}`)
  await screen.getByRole('button', { name: 'Executions' }).click()
  api.answer('readExecution', late.promise)
  await screen.getByRole('button', { name: 'Show on canvas' }).first().click()
  await expect.poll(() => api.asked('readExecution').length).toBe(1)
  const details = screen.getByRole('region', { name: 'Details' })
  await details.getByRole('button', { name: 'Run', exact: true }).click()
  await details.getByLabelText('topic').fill('rain')
  api.answer('executeSandbox', new Promise<never>(() => {}))
  await details.getByRole('button', { name: 'Run', exact: true }).last().click()
  const running = details.getByRole('button', { name: 'Running…' })
  await expect.element(running).toBeVisible()
  late.resolve({ ...contractExample('readExecution'), sandbox: exampleIds.sandbox })
  await late.promise
  await new Promise(requestAnimationFrame)
  await expect.element(running).toBeVisible()
})

test('a flow that is opened again shows the revision that was saved last', async ({ api, open }) => {
  const flows = `/projects/${exampleIds.tenant}/${exampleIds.project}/flows`
  const { screen, goTo } = await open(`${flows}/${exampleIds.sandbox}`)
  const branch = screen.getByRole('group', { name: /^Branch/ })
  await screen.getByRole('button', { name: /^Branch/ }).click()
  await expect.element(branch).toBeVisible()
  const saved = contractExample('saveRevision')
  api.answer('saveRevision', ({ graph }) => {
    api.answer('readSandbox', { ...contractExample('readSandbox'), latestRevision: 2 })
    api.answer('readRevision', { ...saved, graph, number: 2 })
    return { ...saved, graph, number: 2 }
  })
  await userEvent.keyboard('{Control>}s{/Control}')
  await expect.element(screen.getByText('Revision 2', { exact: true })).toBeVisible()
  await goTo(flows)
  await expect.element(screen.getByRole('heading', { name: 'Flows', level: 1 })).toBeVisible()
  await goTo(`${flows}/${exampleIds.sandbox}`)
  await expect.element(branch).toBeVisible()
  await expect.element(screen.getByText('Revision 2', { exact: true })).toBeVisible()
})

test('a revision that another user activates is shown as the active one', async ({ api, open }) => {
  const { screen } = await open(`/projects/${exampleIds.tenant}/${exampleIds.project}${flow}`)
  const activate = screen.getByRole('button', { name: 'Activate', exact: true })
  await expect.element(screen.getByText('Active', { exact: true })).toBeVisible()
  const sandbox = contractExample('readSandbox')
  api.answer('readSandbox', { ...sandbox, activeRevision: 2, latestRevision: 2 })
  showTabAgain()
  await expect.element(screen.getByText('2 is active')).toBeVisible()
  await activate.click()
  await expect.poll(() => api.asked('activateRevision').length).toBe(1)
})

/** The lines of the code editor in a part of the editor. */
const linesIn = (part: string) => () =>
  [...(document.querySelector(`${part} .code-editor`)?.shadowRoot?.querySelectorAll('.cm-line') ?? [])].map(
    (line) => line.textContent,
  )

/** Types the start of a word at the start of the JSON, which makes it invalid. */
async function typeHalf(screen: Pick<typeof page, 'getByRole' | 'getByText'>): Promise<void> {
  await screen.getByRole('button', { name: 'JSON', exact: true }).first().click()
  await expect.poll(linesIn('.json-panel')).not.toEqual([])
  document.querySelector<HTMLElement>('.json-panel .code-editor')!.focus()
  await userEvent.keyboard('{Control>}{Home}{/Control}half')
  await expect.element(screen.getByText(/^Invalid JSON/)).toBeVisible()
}

test('half-written JSON stays while another tab of the details is open', async ({ open }) => {
  const { screen } = await open(`/projects/${exampleIds.tenant}/${exampleIds.project}${flow}`)
  await typeHalf(screen)
  await screen.getByRole('button', { name: 'Revisions', exact: true }).first().click()
  await screen.getByRole('button', { name: 'JSON', exact: true }).first().click()
  await expect.poll(() => linesIn('.json-panel')()[0]).toMatch(/^half/)
})

test('half-written JSON is lost only when the user says so', async ({ open }) => {
  const { screen } = await open(`/projects/${exampleIds.tenant}/${exampleIds.project}${flow}`)
  await typeHalf(screen)
  await screen.getByRole('link', { name: 'Flows' }).first().click()
  const question = screen.getByRole('dialog', { name: 'Unsaved changes' })
  await expect.element(question.getByText(/^The text under JSON is not part of the flow yet/)).toBeVisible()
  await question.getByRole('button', { name: 'Stay' }).click()
  await expect.poll(() => linesIn('.json-panel')()[0]).toMatch(/^half/)
  await screen.getByRole('button', { name: 'Reset to the graph' }).click()
  await screen.getByRole('link', { name: 'Flows' }).first().click()
  await expect.element(screen.getByRole('heading', { name: 'Flows', level: 1 })).toBeVisible()
})

test('half-written text in the form of a node is lost only when the user says so', async ({ api, open }) => {
  const revision = contractExample('readRevision')
  const fixed = { id: 'fixed', kind: 'constant', value: { a: 1 } }
  const graph = { ...revision.graph, nodes: [...revision.graph.nodes, fixed] }
  api.answer('readRevision', { ...revision, graph })
  const { screen } = await open(`/projects/${exampleIds.tenant}/${exampleIds.project}${flow}`)
  const inspector = screen.getByRole('complementary', { name: 'Inspector' })
  const flows = screen.getByRole('link', { name: 'Flows' }).first()
  const question = screen.getByRole('dialog', { name: 'Unsaved changes' })
  await screen.getByRole('group', { name: /^Constant fixed/ }).click()
  await expect.poll(() => linesIn('.inspector-place')()[0]).toBe('{')
  document.querySelector<HTMLElement>('.inspector-place .code-editor')!.focus()
  await userEvent.keyboard('{Control>}{Home}{/Control}half')
  await expect.element(inspector.getByText(/^Invalid JSON/)).toBeVisible()
  await flows.click()
  await expect.element(question.getByText(/^A field of a node has text that is not part of the flow/)).toBeVisible()
  await question.getByRole('button', { name: 'Stay' }).click()
  await expect.poll(() => linesIn('.inspector-place')()[0]).toBe('half{')
  await choose(inspector.getByRole('combobox', { name: 'Type' }), 'number')
  await expect.element(inspector.getByLabelText('Value')).toHaveValue('0')
  await flows.click()
  await expect.element(question.getByText(/^Your changes are kept in this browser/)).toBeVisible()
})

test('half-written text whose field undo takes away is not asked about', async ({ api, open }) => {
  const revision = contractExample('readRevision')
  const fixed = { id: 'fixed', kind: 'constant', value: {} }
  const graph = { ...revision.graph, nodes: [...revision.graph.nodes, fixed] }
  api.answer('readRevision', { ...revision, graph })
  const { screen } = await open(`/projects/${exampleIds.tenant}/${exampleIds.project}${flow}`)
  const inspector = screen.getByRole('complementary', { name: 'Inspector' })
  await screen.getByRole('group', { name: /^Constant fixed/ }).click()
  await choose(inspector.getByRole('combobox', { name: 'Type' }), 'number')
  await inspector.getByLabelText('Value').fill('abc')
  await expect.element(inspector.getByText('Enter a number.')).toBeVisible()
  await screen.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(linesIn('.inspector-place')).toEqual(['{}'])
  await screen.getByRole('link', { name: 'Flows' }).first().click()
  await expect.element(screen.getByRole('heading', { name: 'Flows', level: 1 })).toBeVisible()
})

test('half-written text goes with the restored changes that are discarded', async ({ open }) => {
  const address = `/projects/${exampleIds.tenant}/${exampleIds.project}${flow}`
  const first = await open(address)
  await first.screen.getByRole('button', { name: /^Constant/ }).click()
  await expect.element(first.screen.getByText('Unsaved')).toBeVisible()
  await first.screen.unmount()
  const { screen } = await open(address)
  const inspector = screen.getByRole('complementary', { name: 'Inspector' })
  const node = screen.getByRole('group', { name: / draft$/ })
  await expect.element(node).toBeVisible()
  node.element().focus()
  await userEvent.keyboard('{Enter}')
  const tokens = inspector.getByLabelText('Max output tokens')
  await tokens.fill('many')
  await expect.element(inspector.getByText('Enter a number.')).toBeVisible()
  await screen.getByRole('button', { name: 'Discard' }).click()
  await expect.element(inspector.getByText('Enter a number.')).not.toBeInTheDocument()
  await screen.getByRole('link', { name: 'Flows' }).first().click()
  await expect.element(screen.getByRole('heading', { name: 'Flows', level: 1 })).toBeVisible()
})

test('going back from a form over unsaved changes asks once', async ({ open }) => {
  const flows = `/projects/${exampleIds.tenant}/${exampleIds.project}/flows`
  const { screen, address, goTo, goBack } = await open(flows, { hasBack: true })
  await goTo(`${flows}/${exampleIds.sandbox}`)
  await screen.getByRole('button', { name: /^Branch/ }).click()
  await expect.element(screen.getByText('Unsaved')).toBeVisible()
  await screen.getByRole('button', { name: 'More actions' }).click()
  await screen.getByRole('menuitem', { name: 'Rename' }).click()
  const form = screen.getByRole('dialog', { name: /^Rename/ })
  await form.getByLabelText('Name').fill('Weather')
  goBack()
  await screen.getByRole('dialog', { name: 'Unsaved changes' }).getByRole('button', { name: 'Leave' }).click()
  await expect.poll(() => address().pathname).toBe(flows)
  await expect.element(screen.getByRole('heading', { name: 'Flows', level: 1 })).toBeVisible()
})

test('JSON that was half-written while the flow changed replaces it only when the user says so', async ({ open }) => {
  const { screen } = await open(`/projects/${exampleIds.tenant}/${exampleIds.project}${flow}`)
  const branch = screen.getByRole('group', { name: /^Branch/ })
  await typeHalf(screen)
  await screen.getByRole('button', { name: /^Branch/ }).click()
  await expect.element(branch).toBeVisible()
  document.querySelector<HTMLElement>('.json-panel .code-editor')!.focus()
  await userEvent.keyboard('{Control>}{Home}{/Control}{Delete}{Delete}{Delete}{Delete}')
  await expect.element(screen.getByText(/^The flow was changed elsewhere/)).toBeVisible()
  expect(branch.query()).not.toBeNull()
  await screen.getByRole('button', { name: 'Apply this text' }).click()
  await expect.element(branch).not.toBeInTheDocument()
  expect(screen.getByText(/^The flow was changed elsewhere/).query()).toBeNull()
})

test('a flow whose fields are not what forms expect opens, and can be repaired', async ({ api, open }) => {
  const revision = contractExample('readRevision')
  const properties = { tone: { type: 'string', enum: 'dry' }, of: { type: {}, title: {}, enum: 5 } }
  const graph = { ...revision.graph, input: { ...revision.graph.input, properties } }
  api.answer('readRevision', { ...revision, graph } as unknown as typeof revision)
  const { screen } = await open(`/projects/${exampleIds.tenant}/${exampleIds.project}${flow}`)
  await expect.element(screen.getByRole('textbox', { name: 'Options (one per line)' })).toHaveValue('')
  await expect.element(screen.getByText(/the input contract/i).first()).toBeVisible()
  await screen.getByRole('button', { name: 'Run', exact: true }).first().click()
  await expect.element(screen.getByRole('textbox', { name: 'of (JSON)' })).toBeVisible()
  await screen.getByRole('button', { name: 'Remove tone' }).click()
  await expect.element(screen.getByRole('textbox', { name: 'Options (one per line)' })).not.toBeInTheDocument()
})

test('a prompt with carriage returns is shown and changed line by line', async ({ api, open }) => {
  const revision = contractExample('readRevision')
  const nodes = revision.graph.nodes.map((node) => ({
    ...node,
    ...(node.id === 'ask' && { template: 'a\r\n{{ topic }}\r\nc' }),
  }))
  api.answer('readRevision', { ...revision, graph: { ...revision.graph, nodes } })
  api.answer('saveRevision', ({ graph }) => ({ ...revision, graph, number: revision.number + 1 }))
  const { screen } = await open(`/projects/${exampleIds.tenant}/${exampleIds.project}${flow}`)
  await screen.getByRole('group', { name: / ask$/ }).click()
  const lines = linesIn('.inspector-place')
  await expect.poll(lines).toEqual(['a', '{{ topic }}', 'c'])
  document.querySelector<HTMLElement>('.inspector-place .code-editor')!.focus()
  await userEvent.keyboard('{Control>}{Home}{/Control}{ArrowDown}{End}x')
  await expect.poll(lines).toEqual(['a', '{{ topic }}x', 'c'])
  await userEvent.keyboard('{Control>}s{/Control}')
  await expect.poll(() => api.asked('saveRevision').length).toBe(1)
  const saved = api.asked('saveRevision')[0]!.body.graph.nodes.find(({ id }) => id === 'ask')
  expect(saved).toMatchObject({ template: 'a\n{{ topic }}x\nc' })
})
