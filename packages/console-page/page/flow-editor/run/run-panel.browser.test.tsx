import { expect } from 'vitest'
import { userEvent, type page } from 'vitest/browser'
import { exampleIds } from '@gateway/api/example-ids'
import { refuse } from '@gateway/api/refusal'
import { choose, contractExample, openCannedExecution, pageTest as base, project } from '../../page-test.fixture.tsx'

// The form that runs the flow of the contract's example, which here takes a number, too.

const test = base
  .extend('panel', async ({ api, open }) => {
    api.answer('listProducts', {
      data: [{ ...contractExample('listProducts').data[0]!, state: 'published' }],
      nextCursor: null,
    })
    const revision = contractExample('readRevision')
    const { input } = revision.graph
    const graph = {
      ...revision.graph,
      input: {
        ...input,
        properties: {
          ...input.properties,
          size: { type: 'number' },
          photo: { type: 'object', format: 'image' },
          scan: { type: 'object', format: 'image' },
        },
      },
    }
    api.answer('readRevision', { ...revision, graph })
    const address = `${project}/flows/${exampleIds.sandbox}`
    const { screen, goTo } = await open(address)
    const details = screen.getByRole('region', { name: 'Details' })
    await details.getByRole('button', { name: 'Run', exact: true }).click()
    const run = details.getByRole('button', { name: 'Run', exact: true }).last()
    const leaveAndReturn = async () => {
      await goTo(`${project}/flows`)
      await expect.element(details).not.toBeInTheDocument()
      await goTo(address)
      await details.getByRole('button', { name: 'Run', exact: true }).click()
    }
    const [topic, size] = [details.getByLabelText('topic'), details.getByLabelText('size')]
    return { screen, details, run, topic, size, leaveAndReturn }
  })
  /** Starts the upload of a file. Returns the function that ends it. */
  .extend('upload', ({ api, panel: { details } }) => async (name: string) => {
    const asset = contractExample('uploadAsset')
    const uploads = api.asked('uploadAsset').length
    const answer = Promise.withResolvers<typeof asset>()
    api.answer('uploadAsset', answer.promise)
    const file = new File([new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])], `${name}.png`)
    await userEvent.upload(details.getByRole('group', { name }).getByLabelText(name, { exact: true }), file)
    await expect.poll(() => api.asked('uploadAsset').length).toBe(uploads + 1)
    return (id: string) => answer.resolve({ ...asset, id })
  })
  /** Shows an execution with the topic "wind", and its inputs. */
  .extend('showExecution', ({ api, panel: { details, topic } }) => async () => {
    api.answer('readExecution', {
      ...contractExample('readExecution'),
      sandbox: exampleIds.sandbox,
      input: { topic: 'wind' },
    })
    await details.getByRole('button', { name: 'Executions' }).click()
    await details.getByRole('button', { name: 'Show on canvas' }).first().click()
    await details.getByRole('button', { name: 'Run', exact: true }).first().click()
    await expect.element(topic).toHaveValue('wind')
  })

test('an input that cannot be read keeps the flow from running with the value before it', async ({ panel }) => {
  const { run, size } = panel
  await size.fill('5')
  await expect.element(run).toBeEnabled()
  await size.fill('5,5')
  await expect.element(run).toBeDisabled()
  await size.fill('5.5')
  await expect.element(run).toBeEnabled()
})

test('a half-typed input stays while other details are open or all are closed', async ({ panel }) => {
  const { details, run, size } = panel
  await size.fill('5,5')
  await details.getByRole('button', { name: 'JSON' }).click()
  await expect.element(size).not.toBeVisible()
  await details.getByRole('button', { name: 'JSON' }).click()
  await details.getByRole('button', { name: 'Run', exact: true }).click()
  await expect.element(size).toHaveValue('5,5')
  await expect.element(run).toBeDisabled()
})

test('an estimate goes once the inputs or the graph are no longer those it was made for', async ({ panel }) => {
  const { screen, details, topic } = panel
  const estimate = details.getByText(/^At most \$/)
  const ask = details.getByRole('button', { name: 'What would it cost?' })
  await ask.click()
  await expect.element(estimate).toBeVisible()
  await topic.fill('rain')
  await expect.element(estimate).not.toBeInTheDocument()
  await ask.click()
  await expect.element(estimate).toBeVisible()
  await screen.getByRole('button', { name: 'Auto-layout' }).click()
  await expect.element(estimate).not.toBeInTheDocument()
})

type Panel = Record<'screen' | 'details', Pick<typeof page, 'getByRole'>>

/** Saves the inputs as a set. */
async function saveSet({ screen, details }: Panel, name: string): Promise<void> {
  await details.getByRole('button', { name: 'Save inputs' }).click()
  await screen.getByRole('dialog').getByLabelText('Name', { exact: true }).fill(name)
  await screen.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
}

test('choosing test inputs keeps the typed ones, and those saved in another window stay', async ({ panel }) => {
  const { details, topic } = panel
  const sets = details.getByRole('combobox', { name: 'Test inputs' })
  await topic.fill('short')
  await saveSet(panel, 'Short')
  await topic.fill('a long text that took a while')
  await choose(sets, 'Short')
  await expect.element(topic).toHaveValue('short')
  await choose(sets, 'Unsaved inputs')
  await expect.element(topic).toHaveValue('a long text that took a while')
  const key = Object.keys(localStorage).find((each) => each.startsWith('flow-inputs'))!
  const kept = JSON.parse(localStorage.getItem(key)!) as { sets: object[] }
  const elsewhere = { ...kept, sets: [...kept.sets, { name: 'Elsewhere', values: { topic: 'wind' } }] }
  localStorage.setItem(key, JSON.stringify(elsewhere))
  dispatchEvent(new StorageEvent('storage', { key }))
  await topic.fill('rain')
  await choose(sets, 'Elsewhere')
  await expect.element(topic).toHaveValue('wind')
})

test('an upload that ends keeps what was typed and saved meanwhile', async ({ upload, panel }) => {
  const { details, topic } = panel
  const cost = details.getByLabelText('Max cost (USD)')
  const endPhoto = await upload('photo')
  const endScan = await upload('scan')
  await topic.fill('rain')
  await cost.fill('2')
  await saveSet(panel, 'Rain')
  endPhoto('ast_photo')
  endScan('ast_scan')
  await expect.element(details.getByLabelText('photo: asset ID')).toHaveValue('ast_photo')
  await expect.element(details.getByLabelText('scan: asset ID')).toHaveValue('ast_scan')
  await expect.element(topic).toHaveValue('rain')
  await expect.element(cost).toHaveValue('2')
  await expect.element(details.getByRole('combobox', { name: 'Test inputs' })).toBeVisible()
})

test('an upload that ends after its form was left is an input of the form that is open', async ({ upload, panel }) => {
  const { details, topic, leaveAndReturn } = panel
  const photo = details.getByLabelText('photo: asset ID')
  const end = await upload('photo')
  await leaveAndReturn()
  await topic.fill('rain')
  await saveSet(panel, 'Rain')
  end('ast_photo')
  await expect.element(photo).toHaveValue('ast_photo')
  await leaveAndReturn()
  await expect.element(topic).toHaveValue('rain')
  await expect.element(photo).toHaveValue('ast_photo')
  await expect.element(details.getByRole('combobox', { name: 'Test inputs' })).toBeVisible()
})

test('an upload that ends while an execution is shown is an input of the form it was started in', async ({
  upload,
  panel,
  showExecution,
}) => {
  const { screen, details, topic } = panel
  const photo = details.getByLabelText('photo: asset ID')
  const close = screen.getByRole('button', { name: 'Back to editing' })
  await topic.fill('rain')
  const endOwn = await upload('photo')
  await showExecution()
  const endLent = await upload('scan')
  endOwn('ast_photo')
  await expect.element(screen.getByText('photo.png uploaded.').first()).toBeInTheDocument()
  await expect.element(topic).toHaveValue('wind')
  await expect.element(photo).toHaveValue('')
  await close.click()
  await expect.element(topic).toHaveValue('rain')
  await expect.element(photo).toHaveValue('ast_photo')
  endLent('ast_scan')
  await expect.element(screen.getByText('scan.png uploaded.').first()).toBeInTheDocument()
  await expect.element(topic).toHaveValue('rain')
})

test('the end of an execution is announced with its charge', async ({ api, panel }) => {
  const { screen, run, topic } = panel
  const end = openCannedExecution(api)
  await topic.fill('rain')
  await run.click()
  end()
  await expect.element(screen.getByText('Execution succeeded, charged $0.000042.')).toBeInTheDocument()
})

test('an execution that is refused leaves the one on the canvas, or none', async ({ api, panel }) => {
  const { screen, details, run, topic } = panel
  const refused = { neededMicro: 2, availableMicro: 0, reservedMicro: 0, affordableMaxTokens: 0 }
  const running = screen.getByRole('group', { name: /^Input in/ }).getByText(/running/i)
  api.answer('executeSandbox', refuse('insufficient_budget', refused))
  await topic.fill('rain')
  await run.click()
  await expect.element(details.getByText("The project's wallet is empty.")).toBeVisible()
  await expect.element(running).not.toBeInTheDocument()

  const end = openCannedExecution(api)
  await run.click()
  end()
  const result = details.getByRole('region', { name: 'Result of the execution' })
  await expect.element(result).toBeVisible()
  api.answer('executeSandbox', refuse('insufficient_budget', refused))
  await run.click()
  await expect.element(details.getByText("The project's wallet is empty.")).toBeVisible()
  await expect.element(result).toBeVisible()
  await expect.element(running).not.toBeInTheDocument()
})

test('what is typed while an execution is refused stays over the inputs of the one that is shown again', async ({
  api,
  panel,
  showExecution,
}) => {
  const { details, run, topic } = panel
  await showExecution()
  const refused = Promise.withResolvers<never>()
  api.answer('executeSandbox', refused.promise)
  await run.click()
  await expect.element(details.getByRole('button', { name: 'Running…' })).toBeVisible()
  await topic.fill('rain')
  const facts = { neededMicro: 2, availableMicro: 0, reservedMicro: 0, affordableMaxTokens: 0 }
  refused.resolve(refuse('insufficient_budget', facts) as never)
  await expect.element(details.getByText("The project's wallet is empty.")).toBeVisible()
  await expect.element(topic).toHaveValue('rain')
})

test('what is typed over the inputs of an execution stays when the next one is admitted', async ({
  api,
  panel,
  showExecution,
}) => {
  const { details, run, topic, size } = panel
  await showExecution()
  openCannedExecution(api)
  const { id: executionId, createdAt: at } = contractExample('readExecution')
  const admitted = Promise.withResolvers<never>()
  api.answer('executeSandbox', admitted.promise)
  await run.click()
  await expect.element(details.getByRole('button', { name: 'Running…' })).toBeVisible()
  await size.fill('5,5')
  admitted.resolve({ kind: 'admitted', seq: 0, executionId, revision: 1, at } as never)
  await expect.element(details.getByRole('button', { name: 'Stop' })).toBeVisible()
  await expect.element(size).toHaveValue('5,5')
  await expect.element(size).toHaveFocus()
  await expect.element(topic).toHaveValue('wind')
})

test('what starts an execution keeps the focus while it runs, and starts no other', async ({ api, panel }) => {
  const { screen, details, run, topic } = panel
  const end = openCannedExecution(api)
  await topic.fill('rain')
  run.element().focus()
  await userEvent.keyboard('{Enter}')
  const running = details.getByRole('button', { name: 'Running…' })
  await expect.element(details.getByRole('button', { name: 'Stop' })).toBeVisible()
  await expect.element(running).toHaveFocus()
  await userEvent.keyboard('{Enter}')
  end()
  await expect.element(run).toHaveFocus()
  expect(api.asked('executeSandbox')).toHaveLength(1)

  const endNext = openCannedExecution(api)
  screen
    .getByRole('group', { name: /^Chat draft/ })
    .element()
    .focus()
  await userEvent.keyboard(' ')
  const stop = details.getByRole('button', { name: 'Stop' })
  const runFrom = details.getByRole('button', { name: 'Run from draft' })
  await runFrom.click()
  await expect.element(running).toBeVisible()
  await expect.element(runFrom).toHaveFocus()
  stop.element().focus()
  await userEvent.keyboard('{Enter}')
  await expect.element(details.getByRole('group', { name: 'Outcome' })).toHaveFocus() // Stop goes with the end
  endNext()
  await expect.element(stop).not.toBeInTheDocument()
  await userEvent.keyboard('{Enter}')
  await expect.element(runFrom).toBeEnabled()
  expect(api.asked('executeSandbox').length + api.asked('rerunExecution').length).toBe(2)
})

test('an execution does not start over one that runs and was opened while the flow was saved', async ({
  api,
  panel,
}) => {
  const { screen, details, run, topic } = panel
  const { sandbox } = exampleIds
  api.answer('readExecution', { ...contractExample('readExecution'), sandbox, status: 'Running', completedAt: null })
  api.answer('followExecution', new Promise<never>(() => {}))
  const saved = Promise.withResolvers<ReturnType<typeof contractExample<'saveRevision'>>>()
  api.answer('saveRevision', saved.promise)
  await topic.fill('rain')
  await screen.getByRole('button', { name: 'Auto-layout' }).click()
  await run.click()
  await expect.poll(() => api.asked('saveRevision')).toHaveLength(1)
  await details.getByRole('button', { name: 'Executions' }).click()
  await details.getByRole('button', { name: 'Show on canvas' }).first().click()
  await expect.poll(() => api.asked('followExecution')).toHaveLength(1)
  saved.resolve(contractExample('saveRevision'))
  await expect.element(screen.getByText(/^Revision \d+ saved\.$/).first()).toBeInTheDocument()
  await details.getByRole('button', { name: 'Run', exact: true }).first().click()
  await expect.element(details.getByRole('button', { name: 'Stop' })).toBeVisible()
  expect(api.asked('executeSandbox')).toHaveLength(0)
})

test('the estimate of an execution keeps the focus on its button', async ({ api, panel }) => {
  const { screen, details } = panel
  const saved = Promise.withResolvers<ReturnType<typeof contractExample<'saveRevision'>>>()
  api.answer('saveRevision', saved.promise)
  await screen.getByRole('button', { name: 'Auto-layout' }).click()
  const ask = details.getByRole('button', { name: 'What would it cost?' })
  await ask.click()
  await expect.element(ask).toHaveAttribute('aria-disabled', 'true')
  await expect.element(ask).toHaveFocus()
  saved.resolve(contractExample('saveRevision'))
  await expect.element(details.getByText(/^At most \$/)).toBeVisible()
  await expect.element(ask).toHaveFocus()
})
