import { useState } from 'react'
import { expect, vi } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { Refusal, refuse } from '@gateway/api/refusal'
import { exampleIds } from '@gateway/api/example-ids'
import { contractExample, openCannedExecution, pageTest as test, project, showTabAgain } from '../page-test.fixture.tsx'
import { Composer } from './components/composer.tsx'
import { newAnswer, newConversation } from './core/conversation.ts'
import { endPlaygrounds, keptIn } from './data/kept.ts'

function ComposerAlone() {
  const [draft, setDraft] = useState(newConversation.draft)
  const none = () => {}
  const of = { isStreaming: false, cannot: null, onSend: none, onAdd: none, onStop: none, children: null }
  return <Composer {...of} takesImages draft={draft} onChange={setDraft} />
}

test('text typed while an image is read stays in the message', async ({ show }) => {
  const screen = await show(<ComposerAlone />)
  const message = screen.getByLabelText('Message', { exact: true })
  const pixel = new OffscreenCanvas(1, 1)
  pixel.getContext('2d')!.fillRect(0, 0, 1, 1)
  const files = new DataTransfer()
  files.items.add(new File([await pixel.convertToBlob()], 'pixel.png', { type: 'image/png' }))
  const choice = document.querySelector<HTMLInputElement>('input[type=file]')!
  choice.files = files.files
  // Both in one task: the file is read after it.
  choice.dispatchEvent(new Event('change', { bubbles: true }))
  message.element().dispatchEvent(typed(message.element() as HTMLTextAreaElement, 'What is this?'))
  await expect.element(screen.getByRole('img', { name: 'Image 1' })).toBeVisible()
  await expect.element(message).toHaveValue('What is this?')
})

test('removed messages can be restored, one or a whole conversation', async ({ open }) => {
  const { screen } = await open(`${project}/playground`)
  for (const text of ['Hello', 'And?']) {
    await screen.getByLabelText('Message', { exact: true }).fill(text)
    await screen.getByRole('button', { name: 'Append only' }).click()
  }
  const restore = screen.getByRole('button', { name: 'Restore messages' })
  const messages = screen.getByRole('article', { name: 'user message' })
  const texts = () => messages.elements().map(({ textContent }) => textContent)
  const [both, second] = [['Hello', 'And?'], ['And?']].map((each) => each.map((text) => expect.stringContaining(text)))
  await screen.getByRole('button', { name: 'Remove' }).first().click()
  await expect.poll(texts).toEqual(second)
  await restore.click()
  await expect.poll(texts).toEqual(both)
  await expect.element(restore).not.toBeInTheDocument()
  await screen.getByRole('button', { name: 'New conversation' }).click()
  await expect.element(screen.getByText('No messages yet')).toBeVisible()
  await restore.click()
  await expect.poll(texts).toEqual(both)
})

test('a response that was left before its call had an ID has an unknown charge, and a link to its calls', async ({
  open,
}) => {
  const { id: user } = contractExample('readMe')
  const answers = { kind: 'answers' as const, id: 'a', columns: [newAnswer('a', 'acme/swift')] }
  keptIn({ user, project: exampleIds.project }).write('conversation', { ...newConversation, entries: [answers] })
  const { screen, address } = await open(`${project}/playground`)
  const response = screen.getByRole('article', { name: 'Response from acme/swift' })
  await expect.element(response.getByText('Charge unknown')).toBeVisible()
  await expect.element(screen.getByText('(1 charge unknown)')).toBeVisible()
  await expect.element(response.getByText(/pending/)).not.toBeInTheDocument()
  await response.getByRole('link', { name: 'View calls' }).click()
  await expect.poll(address).toMatchObject({ pathname: `${project}/calls`, search: { model: 'acme/swift' } })
})

test('a pending charge is read in the session, without the key', async ({ api, open }) => {
  const { id: user } = contractExample('readMe')
  const stopped = { ...newAnswer('a', 'acme/swift'), state: 'stopped' as const, invocation: 'inv_1' }
  const answers = { kind: 'answers' as const, id: 'a', columns: [stopped] }
  keptIn({ user, project: exampleIds.project }).write('conversation', { ...newConversation, entries: [answers] })
  const call = { ...contractExample('readInvocation'), id: 'inv_1', chargedMicro: 42 }
  api.answer('readInvocation', { ...call, state: 'Settled' })
  const { screen } = await open(`${project}/playground`)
  const response = screen.getByRole('article', { name: 'Response from acme/swift' })
  await expect.element(response.getByText('Charged $0.000042')).toBeVisible()
  await expect.element(screen.getByText('(1 charge pending)')).not.toBeInTheDocument()
})

test('the charge of a call of another project is unknown, and a failed read does not end the reads of a charge', async ({
  api,
  open,
  onTestFinished,
}) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const { id: user } = contractExample('readMe')
  const whole = { ...newAnswer('a', 'acme/swift'), state: 'whole' as const, text: 'Rain', invocation: 'inv_1' }
  const answers = { kind: 'answers' as const, id: 'a', columns: [whole] }
  keptIn({ user, project: exampleIds.project }).write('conversation', { ...newConversation, entries: [answers] })
  const once = { headers: { 'x-should-retry': 'true', 'Retry-After': '3600' } }
  api.answer('readInvocation', new Refusal('unavailable', 'Not now.', 'Try later.', once))
  const { screen } = await open(`${project}/playground`)
  await expect.element(screen.getByText('(1 charge pending)')).toBeVisible()
  await expect.poll(() => api.asked('readInvocation')).toHaveLength(1)
  api.answer('readInvocation', refuse('not_found', {}))
  const reads = () => vi.advanceTimersByTimeAsync(10_000).then(() => api.asked('readInvocation').length)
  await expect.poll(reads).toBe(2)
  await expect.element(screen.getByText('(1 charge unknown)')).toBeVisible()
  const response = screen.getByRole('article', { name: 'Response from acme/swift' })
  await expect.element(response.getByText("The call is not in this project: its charge can't be read.")).toBeVisible()
  await expect.element(screen.getByText(/charge pending/i)).not.toBeInTheDocument()
  await expect.element(response.getByRole('link', { name: /View call/ })).not.toBeInTheDocument()
  expect(await reads()).toBe(2)
})

const keptNames = () => Object.keys(sessionStorage).filter((name) => name.startsWith('playground:'))

test('a charge that becomes known while the user signs out does not bring the conversation back', async ({
  api,
  open,
}) => {
  const { id: user } = contractExample('readMe')
  const stopped = { ...newAnswer('a', 'acme/swift'), state: 'stopped' as const, invocation: 'inv_1' }
  const answers = { kind: 'answers' as const, id: 'a', columns: [stopped] }
  keptIn({ user, project: exampleIds.project }).write('conversation', { ...newConversation, entries: [answers] })
  const call = { ...contractExample('readInvocation'), id: 'inv_1', chargedMicro: 42, state: 'Settled' as const }
  const read = Promise.withResolvers<typeof call>()
  api.answer('readInvocation', read.promise)
  const ended = Promise.withResolvers<never>()
  api.answer('signOut', ended.promise)
  const { screen } = await open(`${project}/playground`)
  await expect.element(screen.getByText('(1 charge pending)')).toBeVisible()
  await screen.getByRole('button', { name: 'Account', exact: true }).click()
  await screen.getByRole('menuitem', { name: 'Sign out' }).click()
  await expect.poll(() => api.asked('signOut')).toHaveLength(1)
  expect(keptNames()).toEqual([])
  read.resolve(call)
  await expect.element(screen.getByText('Charged $0.000042')).toBeVisible()
  expect(keptNames()).toEqual([])
  ended.resolve(new Refusal('unavailable', 'Not now.', 'Try later.') as never)
  await expect.element(screen.getByText('Not now.')).toBeVisible()
  await userEvent.keyboard('{Escape}')
  await screen.getByLabelText('Message', { exact: true }).fill('Hello')
  await expect.poll(keptNames).toHaveLength(1)
})

/** Answers requests for a response, oldest first, with those of the test; the last one answers the rest. */
function answerChats(onTestFinished: (work: () => void) => void, ...responses: Promise<Response>[]): void {
  const { fetch } = globalThis
  onTestFinished(() => void (globalThis.fetch = fetch))
  globalThis.fetch = (input, init) => {
    if (input !== '/v1/chat/completions') return fetch(input, init)
    return responses.length > 1 ? responses.shift()! : responses[0]!.then((response) => response.clone())
  }
}

function keepKey(): void {
  const { id: user } = contractExample('readMe')
  keptIn({ user, project: exampleIds.project }).write('key', { secret: 'secret', made: null })
}

/** Sends a message. @returns the button that stops the response */
async function send(screen: Pick<typeof page, 'getByLabelText' | 'getByRole'>) {
  await screen.getByLabelText('Message', { exact: true }).fill('Hello')
  await screen.getByRole('button', { name: 'Send', exact: true }).click()
  const stop = screen.getByRole('button', { name: 'Stop' })
  await expect.element(stop).toBeVisible()
  return stop
}

const silent = () => Promise.resolve(new Response(new ReadableStream()))

test('the charge of a response that was stopped and replaced before its call had an ID counts', async ({
  api,
  open,
  onTestFinished,
}) => {
  const [first, refused] = [Promise.withResolvers<Response>(), Promise.withResolvers<Response>()]
  answerChats(onTestFinished, first.promise, refused.promise, silent())
  keepKey()
  const { screen } = await open(`${project}/playground`)
  const stop = await send(screen)
  const again = screen.getByRole('button', { name: 'Try again' })
  for (const _ of [first, refused]) {
    await stop.click()
    await again.click()
    await expect.element(stop).toBeVisible()
  }
  await expect.element(screen.getByText('(3 charges pending)')).toBeInTheDocument()
  api.answer('readInvocation', { ...contractExample('readInvocation'), state: 'Settled', chargedMicro: 42 })
  first.resolve(new Response(null, { headers: { 'X-Service-Invocation': 'inv_1' } }))
  const { body: error, status } = refuse('key_revoked', { rotatedTo: null })
  refused.resolve(Response.json({ error }, { status }))
  const total = screen.getByRole('group', { name: 'Charged for this conversation' })
  await expect.element(total).toHaveTextContent('Conversation total: $0.000042 (1 charge pending)')
})

test('the end of a response is announced unless it was refused or left', async ({ open, onTestFinished }) => {
  const whole = Promise.resolve(new Response('data: [DONE]\n\n'))
  const { body: error, status } = refuse('key_revoked', { rotatedTo: null })
  answerChats(onTestFinished, whole, silent(), Promise.resolve(Response.json({ error }, { status })), silent())
  keepKey()
  const { screen, goTo } = await open(`${project}/playground`)
  const [complete, stopped] = ['complete', 'stopped'].map((end) => screen.getByText(`Response ${end}.`))
  await screen.getByLabelText('Message', { exact: true }).fill('Hello')
  await screen.getByRole('button', { name: 'Send', exact: true }).click()
  await expect.element(complete!).toBeInTheDocument()
  const again = screen.getByRole('button', { name: 'Try again' })
  await again.click()
  await screen.getByRole('button', { name: 'Stop' }).click()
  await expect.element(stopped!).toBeInTheDocument()
  await again.click()
  await expect.element(screen.getByText(error.message)).toBeVisible()
  await expect.element(stopped!).toBeInTheDocument()
  await again.click()
  await expect.element(screen.getByRole('button', { name: 'Stop' })).toBeVisible()
  void goTo(`${project}/calls`)
  await screen.getByRole('button', { name: 'Leave' }).click()
  await expect.element(screen.getByRole('heading', { name: 'Calls' })).toBeVisible()
  await expect.element(stopped!).toBeInTheDocument()
})

test('a model that the project cannot call is named, and no other is taken for it', async ({ open }) => {
  keepKey()
  const { screen } = await open(`${project}/playground?model=gone/model`)
  await screen.getByLabelText('Message', { exact: true }).fill('Hello')
  const notice = "This project can't call gone/model at the moment. Choose another."
  await expect.element(screen.getByText(notice)).toBeVisible()
  await expect.element(screen.getByRole('combobox', { name: 'Model' })).toHaveTextContent('gone/model')
  await expect.element(screen.getByRole('button', { name: 'Send', exact: true })).toBeDisabled()
})

test('a flow that the project cannot run is named, and no other is taken for it', async ({ open }) => {
  const { screen } = await open(`${project}/playground?flow=sbx-gone`)
  const notice = "This project can't call sbx-gone at the moment. Choose another."
  await expect.element(screen.getByText(notice)).toBeVisible()
  await expect.element(screen.getByRole('combobox', { name: 'Flow' })).toHaveTextContent('sbx-gone')
  await expect.element(screen.getByRole('button', { name: 'Run', exact: true })).not.toBeInTheDocument()
})

/** The signals of the requests that follow an execution, oldest first. */
function followSignals(onTestFinished: (work: () => void) => void): AbortSignal[] {
  const signals: AbortSignal[] = []
  const { fetch } = globalThis
  onTestFinished(() => void (globalThis.fetch = fetch))
  globalThis.fetch = (input, init) => {
    if (typeof input === 'string' && input.includes('/progress') && init?.signal) signals.push(init.signal)
    return fetch(input, init)
  }
  return signals
}

test('an execution of the playground is followed again after its screen was left', async ({
  api,
  open,
  onTestFinished,
}) => {
  const { screen, goTo } = await open(`${project}/playground?flow=`)
  openCannedExecution(api)
  const execution = contractExample('readExecution')
  // Followed from its first line, the execution ends with it.
  const ended = Promise.withResolvers<object>()
  api.answer('followExecution', ended.promise as never)
  api.answer('readExecution', { ...execution, status: 'Running', completedAt: null })
  const signals = followSignals(onTestFinished)
  await screen.getByLabelText('topic').fill('rain')
  await screen.getByRole('button', { name: 'Run', exact: true }).click()
  const stop = screen.getByRole('button', { name: 'Stop' })
  await expect.element(stop).toBeVisible()
  for (const leave of [
    () => screen.getByRole('link', { name: 'Models', exact: true }).last().click(),
    () => goTo(`${project}/calls`),
  ]) {
    const following = () => signals.at(-1)
    await expect.poll(following).toBeDefined()
    const { aborted } = following()!
    expect(aborted).toBe(false)
    await leave()
    await expect.poll(() => signals.every((signal) => signal.aborted)).toBe(true)
    await goTo(`${project}/playground?flow=`)
    await expect.element(screen.getByRole('button', { name: 'Running…' })).toBeVisible()
    await expect.element(stop).toBeVisible()
  }
  api.answer('readExecution', execution)
  ended.resolve({ kind: 'complete', seq: 0, execution })
  await expect.element(screen.getByRole('region', { name: 'Result of the execution' })).toBeVisible()
  expect(api.asked('executeSandbox')).toHaveLength(1)
})

/** First line of progress of an execution. */
const admittedLine = ({ id, createdAt }: { id: string; createdAt: string }) => ({
  kind: 'admitted',
  seq: 0,
  executionId: id,
  revision: 1,
  at: createdAt,
})

test('an execution whose start is not answered yet is shown and followed after its screen was left', async ({
  api,
  open,
}) => {
  const { screen, goTo } = await open(`${project}/playground?flow=`)
  const end = openCannedExecution(api)
  const execution = contractExample('readExecution')
  const admitted = Promise.withResolvers<never>()
  api.answer('executeSandbox', admitted.promise)
  const running = screen.getByRole('button', { name: 'Running…' })
  await screen.getByLabelText('topic').fill('rain')
  await screen.getByRole('button', { name: 'Run', exact: true }).click()
  await expect.element(running).toBeVisible()
  for (let n = 0; n < 2; n++) {
    await goTo(`${project}/calls`)
    await expect.element(running).not.toBeInTheDocument()
    await goTo(`${project}/playground?flow=`)
    await expect.element(running).toBeVisible()
  }
  admitted.resolve(admittedLine(execution) as never)
  await expect.element(screen.getByRole('button', { name: 'Stop' })).toBeVisible()
  end()
  await expect.element(screen.getByRole('region', { name: 'Result of the execution' })).toBeVisible()
  await expect.element(running).not.toBeInTheDocument()
  expect(api.asked('executeSandbox')).toHaveLength(1)
})

test('an execution that gets its ID while its screen is left is followed from then on', async ({ api, open }) => {
  const { screen, goTo } = await open(`${project}/playground?flow=`)
  // Followed from its first line, the execution ends with it.
  const ended = Promise.withResolvers<never>()
  api.answer('followExecution', ended.promise)
  const execution = contractExample('readExecution')
  const admitted = Promise.withResolvers<never>()
  api.answer('executeSandbox', admitted.promise)
  api.answer('readExecution', { ...execution, status: 'Running', completedAt: null })
  const running = screen.getByRole('button', { name: 'Running…' })
  await screen.getByLabelText('topic').fill('rain')
  await screen.getByRole('button', { name: 'Run', exact: true }).click()
  await goTo(`${project}/calls`)
  admitted.resolve(admittedLine(execution) as never)
  await expect.poll(() => Object.values(sessionStorage).join('')).toContain(execution.id)
  expect(api.asked('followExecution')).toEqual([])
  await goTo(`${project}/playground?flow=`)
  await expect.element(running).toBeVisible()
  await expect.poll(() => api.asked('followExecution')).toHaveLength(1)
  api.answer('readExecution', execution)
  ended.resolve({ kind: 'complete', seq: 0, execution } as never)
  await expect.element(screen.getByRole('region', { name: 'Result of the execution' })).toBeVisible()
})

test('an execution that is refused after its screen was left and opened again shows the error', async ({
  api,
  open,
}) => {
  const { screen, goTo } = await open(`${project}/playground?flow=`)
  const admitted = Promise.withResolvers<never>()
  api.answer('executeSandbox', admitted.promise)
  const run = screen.getByRole('button', { name: 'Run', exact: true })
  await screen.getByLabelText('topic').fill('rain')
  await run.click()
  await goTo(`${project}/calls`)
  await goTo(`${project}/playground?flow=`)
  await expect.element(screen.getByRole('button', { name: 'Running…' })).toBeVisible()
  admitted.resolve(new Refusal('invalid_request', 'The flow is suspended.', 'Resume it.') as never)
  await expect.element(screen.getByText('The flow is suspended.')).toBeVisible()
  await expect.element(run).toBeVisible()
})

/** Room in the storage of this tab for values without images only. @returns the stored conversations so far */
function leaveNoRoomForImages(onTestFinished: (work: () => void) => void): string[] {
  const stored: string[] = []
  const { setItem } = Storage.prototype
  onTestFinished(() => void (Storage.prototype.setItem = setItem))
  Storage.prototype.setItem = function (name, value) {
    if (value.includes('data:image/')) throw new DOMException('No room.', 'QuotaExceededError')
    if (name.startsWith('playground:conversation:')) stored.push(value)
    setItem.call(this, name, value)
  }
  return stored
}

test('a conversation whose images do not fit is kept without them, and says so', async ({ open, onTestFinished }) => {
  const { id: user } = contractExample('readMe')
  const message = { kind: 'message' as const, role: 'user' as const, images: ['data:image/png;base64,AAAA'] }
  const entries = [
    { ...message, id: 'a', text: 'Look' },
    { ...message, id: 'b', text: '' },
  ]
  keptIn({ user, project: exampleIds.project }).write('conversation', { ...newConversation, entries })
  leaveNoRoomForImages(onTestFinished)
  const { screen } = await open(`${project}/playground`)
  await screen.getByLabelText('Message', { exact: true }).fill('Last')
  await screen.getByRole('button', { name: 'Append only' }).click()
  await expect.element(screen.getByText('The images are too large to be kept across a reload.')).toBeVisible()
  await screen.unmount()
  const { screen: again } = await open(`${project}/playground`)
  const texts = () =>
    again
      .getByRole('article', { name: 'user message' })
      .elements()
      .map(({ textContent }) => textContent)
  await expect.poll(texts).toEqual(['Look', 'Last'].map((text) => expect.stringContaining(text)))
})

test('a streamed response is not stored at every token, and its last state is', async ({ open, onTestFinished }) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  answerChats(onTestFinished, Promise.resolve(new Response(readable)), silent())
  keepKey()
  const stored = leaveNoRoomForImages(onTestFinished)
  const { screen } = await open(`${project}/playground`)
  const stop = await send(screen)
  const before = stored.length
  const events = writable.getWriter()
  const tokens = 'abcdefghijklmnopqrstuvwxyz'
  for (let n = 0; n < tokens.length; n++) {
    const choices = [{ index: 0, delta: { content: tokens[n] }, finish_reason: null }]
    void events.write(new TextEncoder().encode(`data: ${JSON.stringify({ id: 'inv_1', choices })}\n\n`))
    await expect.element(screen.getByText(tokens.slice(0, n + 1), { exact: true })).toBeInTheDocument()
  }
  expect(stored).toHaveLength(before)
  vi.advanceTimersByTime(1_000)
  expect(stored.slice(before)).toEqual([expect.stringContaining(tokens)])
  stored.length = 0
  window.dispatchEvent(new Event('pagehide'))
  expect(stored.at(-1)).toContain(tokens)
  await stop.click()
  await expect.poll(() => stored.at(-1)).toContain('"state":"stopped"')
  await screen.getByRole('button', { name: 'Try again' }).click()
  await expect.element(stop).toBeVisible()
  const signedOut = Promise.withResolvers<never>()
  const ending = endPlaygrounds(() => signedOut.promise)
  await screen.unmount()
  expect(keptNames()).toEqual([])
  signedOut.reject(new Error('Not now.'))
  await expect(ending).rejects.toThrow('Not now.')
})

test('leaving while a response is streamed asks first', async ({ open, onTestFinished }) => {
  answerChats(onTestFinished, silent())
  keepKey()
  const { goTo, address, screen } = await open(`${project}/playground`)
  const stop = await send(screen)
  void goTo(`${project}/calls`)
  const question = screen.getByRole('dialog', { name: 'Response in progress' })
  await question.getByRole('button', { name: 'Stay' }).click()
  await expect.element(question).not.toBeInTheDocument()
  await stop.click()
  await expect.element(stop).not.toBeInTheDocument()
  await goTo(`${project}/calls`)
  expect(address().pathname).toBe(`${project}/calls`)
})

/** The event of typing. React takes the value only if it was set behind its back. */
function typed(field: HTMLTextAreaElement, text: string): Event {
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value')!.set!.call(field, text)
  return new InputEvent('input', { bubbles: true })
}

test('inputs of a flow stay while its list cannot be read, and when another flow or revision is activated', async ({
  api,
  open,
}) => {
  const [flow] = contractExample('listSandboxes').data
  const { screen } = await open(`${project}/playground?flow=`)
  const topic = screen.getByLabelText('topic')
  await topic.fill('rain')
  api.answer('listSandboxes', new Refusal('unavailable', 'Not now.', 'Try later.'))
  showTabAgain()
  await expect.element(screen.getByText('Not now.').first()).toBeVisible()
  await expect.element(topic).toHaveValue('rain')
  const reads = api.asked('readRevision').length
  api.answer('listSandboxes', {
    data: [
      { ...flow!, id: 'sbx-newer', name: 'Newer' },
      { ...flow!, activeRevision: flow!.activeRevision! + 1 },
    ],
    nextCursor: null,
  })
  const next = Promise.withResolvers<ReturnType<typeof contractExample<'readRevision'>>>()
  api.answer('readRevision', next.promise)
  await screen.getByRole('button', { name: 'Retry' }).first().click()
  await expect.poll(() => api.asked('readRevision').length).toBeGreaterThan(reads)
  await expect.element(screen.getByRole('combobox', { name: 'Flow' })).toHaveTextContent(flow!.name)
  await expect.element(topic).toHaveValue('rain')
  const revision = contractExample('readRevision')
  next.resolve({ ...revision, number: revision.number + 1 })
  await screen.getByRole('button', { name: 'Estimate cost' }).click()
  await expect
    .poll(() => api.asked('estimateSandbox').at(-1)?.body)
    .toEqual({ input: { topic: 'rain' }, revision: revision.number + 1 })
})

test('the failure of an execution is announced with its reason and charge', async ({ api, open }) => {
  const { screen } = await open(`${project}/playground?flow=`)
  const end = openCannedExecution(api)
  await screen.getByLabelText('topic').fill('rain')
  await screen.getByRole('button', { name: 'Run', exact: true }).click()
  const { body: error } = new Refusal('invalid_request', 'The model refused.', 'Change the prompt.')
  end({ status: 'Failed', error })
  await expect.element(screen.getByText('Execution failed, charged $0.000042. The model refused.')).toBeInTheDocument()
})

test('Run keeps the focus while an execution of the playground runs, and starts no other', async ({ api, open }) => {
  const { screen } = await open(`${project}/playground?flow=`)
  const end = openCannedExecution(api)
  const run = screen.getByRole('button', { name: 'Run', exact: true })
  await screen.getByLabelText('topic').fill('rain')
  run.element().focus()
  await userEvent.keyboard('{Enter}')
  await expect.element(screen.getByRole('button', { name: 'Stop' })).toBeVisible()
  await expect.element(screen.getByRole('button', { name: 'Running…' })).toHaveFocus()
  await userEvent.keyboard('{Enter}')
  end()
  await expect.element(run).toHaveFocus()
  expect(api.asked('executeSandbox')).toHaveLength(1)
})

test('an upload that ends after its form was left keeps the inputs that were typed since', async ({ api, open }) => {
  const revision = contractExample('readRevision')
  const { input } = revision.graph
  const properties = { ...input.properties, photo: { type: 'object', format: 'image' } }
  api.answer('readRevision', { ...revision, graph: { ...revision.graph, input: { ...input, properties } } })
  const { screen } = await open(`${project}/playground?flow=`)
  const topic = screen.getByLabelText('topic')
  const asset = contractExample('uploadAsset')
  const uploaded = Promise.withResolvers<typeof asset>()
  api.answer('uploadAsset', uploaded.promise)
  const leaveAndReturn = async () => {
    await screen.getByRole('link', { name: 'Models', exact: true }).last().click()
    await expect.element(topic).not.toBeInTheDocument()
    await screen.getByRole('link', { name: 'Flows', exact: true }).last().click()
  }
  await topic.fill('rain')
  const file = new File([new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])], 'dot.png')
  await userEvent.upload(screen.getByRole('group', { name: 'photo' }).getByLabelText('photo', { exact: true }), file)
  await expect.poll(() => api.asked('uploadAsset')).toHaveLength(1)
  await leaveAndReturn()
  await topic.fill('wind')
  uploaded.resolve({ ...asset, id: 'ast_photo' })
  await expect.element(screen.getByText('dot.png uploaded.').first()).toBeInTheDocument()
  await expect.element(topic).toHaveValue('wind')
  await topic.fill('storm')
  await leaveAndReturn()
  await expect.element(topic).toHaveValue('storm')
  await expect.element(screen.getByLabelText('photo: asset ID')).toHaveValue('ast_photo')
})

test('inputs and max cost of a flow stay while models are tried', async ({ open }) => {
  const { screen } = await open(`${project}/playground?flow=`)
  await screen.getByLabelText('topic').fill('rain')
  await screen.getByLabelText(/^Max cost/).fill('0.5')
  await screen.getByRole('link', { name: 'Models', exact: true }).last().click()
  await expect.element(screen.getByLabelText('Message', { exact: true })).toBeVisible()
  await screen.getByRole('link', { name: 'Flows', exact: true }).last().click()
  await expect.element(screen.getByLabelText('topic')).toHaveValue('rain')
  await expect.element(screen.getByLabelText(/^Max cost/)).toHaveValue('0.5')
})
