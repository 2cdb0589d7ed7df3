import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { callerAt } from './src/caller.ts'
import { hindrances, type Page } from './src/console/browser.ts'
import { consoleTest } from './src/console/console-test.ts'
import { consoleOwner, signedInAt, signIn } from './src/console/users.ts'
import { PNG } from './src/console/png.ts'
import { choose, signOut } from './src/console/widgets.ts'
import { flows } from './src/mcp/flows.ts'
import type { Stack } from './src/stack.ts'

// The playground in a browser, against the whole service. Every figure shown is compared with the books.

const dollars = (micro: bigint | number) => `$${(Number(micro) / 1e6).toFixed(6).replace(/0{1,4}$/, '')}`
const run = promisify(execFile)
const answerOf = (page: Page, model: string) => page.getByRole('article', { name: `Response from ${model}` })
const send = (page: Page) => page.getByRole('button', { name: 'Send', exact: true })

/** Parses a duration such as "1.2 s total" or "120 ms" into milliseconds. */
async function milliseconds(text: Promise<string | null> | string | null): Promise<number> {
  const [, figure, unit] = /([\d.]+) (ms|s)\b/.exec((await text) ?? '') ?? []
  return Number(figure) * (unit === 's' ? 1000 : 1)
}

/** Signs an owner in to the playground and creates its key, which belongs to the tab. */
async function player(stack: Stack, page: Page, limit = '1') {
  const owner = await consoleOwner(stack)
  await page.goto(`${owner.home}/playground`)
  await signIn(page, owner)
  await page.getByLabel('Spending limit (USD)').fill(limit)
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('button', { name: 'Revoke key' }).waitFor()
  const settled = async () => (await stack.wallet(owner.project.id)).settled
  return { ...owner, settled, message: page.getByLabel('Message', { exact: true }) }
}

const test = consoleTest

test('a response streams in, shows its timing and its charge, and survives a reload', async ({ stack, visit }) => {
  const { page, problems } = await visit()
  const { model, message, settled, project } = await player(stack, page)
  const prompt = `Count ${randomUUID()}`
  const said = 'one two three four five six seven eight nine ten' // several words may render together
  await stack.provider.control.setFaults([{ prompt, text: said, perChunkMs: 200 }])
  await page.evaluate(`
    seen = []
    new MutationObserver(() => seen.push(document.querySelector('.answer .playground-text')?.textContent ?? ''))
      .observe(document.body, { subtree: true, childList: true, characterData: true })`)
  await message.fill(prompt)
  await send(page).click()
  const answer = answerOf(page, model)
  await answer.getByText(said).waitFor()
  const figures = await answer.getByText(/First token after/).textContent()
  const [first, whole] = await Promise.all([figures, answer.getByText(/ total$/).textContent()].map(milliseconds))
  expect(first).toBeGreaterThan(0)
  expect(whole).toBeGreaterThan(first!)
  const grown = [...new Set(await page.evaluate<string[]>('seen'))].filter((text) => text !== '')
  expect(grown.length).toBeGreaterThan(2)
  for (const text of grown) expect(said.startsWith(text)).toBe(true)
  await answer.getByText(/^Charged/).waitFor()
  const [call] = await stack.invocations(project.id)
  await answer.getByText(`${call!.promptTokens} input tokens, ${call!.completionTokens} output`).waitFor()
  await answer.getByText(dollars(await settled())).waitFor()
  const together = page.getByRole('group', { name: 'Charged for this conversation' })
  await together.getByText(dollars(await settled())).waitFor()
  await page.getByText(`${dollars(await settled())} of $1.00 spent`).waitFor()

  await message.fill('typed before')
  await page.reload()
  await answer.getByText(said).waitFor()
  expect(await message.inputValue()).toBe('typed before')
  await page.getByRole('button', { name: 'Try again' }).click()
  await answer.getByText(/^Charged/).waitFor()
  await expect.poll(settled).toBe(2n * call!.chargedMicro)
  await together.getByText(dollars(await settled())).waitFor()
  expect([await hindrances(page), problems]).toEqual([[], []])
})

test('hostile Markdown runs nothing, loads nothing and stays within the page', async ({ stack, visit }) => {
  const { page, problems } = await visit({ width: 390, colorScheme: 'light' })
  const { model, message } = await player(stack, page)
  const prompt = `Attack ${randomUUID()}`
  const cells = Array.from({ length: 40 }, (_, n) => `column${n}`)
  const text = [
    '<script>globalThis.hacked = 1</script><img src="https://leak.test/a.png" onerror="globalThis.hacked = 2">',
    '![pixel](https://leak.test/b.png) and [run](javascript:globalThis.hacked=3) and [site](https://leak.test/c)',
    '<a href="javascript:globalThis.hacked=4">raw</a> &copy; <iframe src="https://leak.test/d"></iframe>',
    ['```js', 'alert(1)', '```'].join('\n'),
    [cells, cells.map(() => '---'), cells].map((row) => `| ${row.join(' | ')} |`).join('\n'),
  ].join('\n\n')
  await stack.provider.control.setFaults([{ prompt, text, perChunkMs: 5 }])
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await message.fill(prompt)
  await message.press('Enter')
  const answer = answerOf(page, model)
  await answer.getByText(/^Charged/).waitFor()
  await answer.getByText('alert(1)').waitFor()
  await answer.getByRole('link', { name: 'Image: pixel' }).waitFor()
  expect(await answer.locator('img, script, iframe, [onerror], [href^="javascript"]').count()).toBe(0)
  expect(await answer.getByRole('link', { name: 'site' }).getAttribute('rel')).toBe('noopener noreferrer')
  await answer.getByText('run', { exact: true }).click()
  await answer.getByRole('button', { name: 'Copy code' }).click()
  expect(await page.evaluate('globalThis.hacked')).toBeUndefined()
  expect(asked.filter((url) => url.includes('leak.test'))).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false)
  expect([await hindrances(page), problems]).toEqual([[], []])
})

test('two models answer one message, each with its charge, and an edited message is answered again', async ({
  stack,
  visit,
}) => {
  const { page, problems } = await visit()
  const { model, home, project, message, settled } = await player(stack, page)
  const other = await stack.fixture.publishProduct({ promptPico: 3_000_000n, completionPico: 3_000_000n })
  await stack.fixture.assign(project.id, other)
  await page.goto(`${home}/playground?compareWith=${encodeURIComponent(other)}`)
  await message.fill('Write a line about rain.')
  await message.press('Control+Enter')
  for (const each of [model, other])
    await answerOf(page, each)
      .getByText(/^Charged/)
      .waitFor()
  const calls = await stack.invocations(project.id)
  for (const { product, chargedMicro } of calls)
    await answerOf(page, product!).getByText(dollars(chargedMicro)).waitFor()
  expect(new Set(calls.map(({ product }) => product))).toEqual(new Set([model, other]))
  expect(calls).toHaveLength(2)

  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  await page.getByLabel('Edit message').fill('Write a line about snow.')
  await page.getByRole('button', { name: 'Send from here' }).click()
  await expect.poll(async () => (await stack.invocations(project.id)).length).toBe(4)
  await page.getByText('Write a line about snow.', { exact: true }).waitFor()
  const together = page.getByRole('group', { name: 'Charged for this conversation' })
  await together.getByText(dollars(await settled())).waitFor()
  expect(problems).toEqual([])
})

test('a stopped response is charged to its end and shows the charge', async ({ stack, visit }) => {
  const { page, problems } = await visit()
  const { model, message, settled } = await player(stack, page)
  const prompt = `Count ${randomUUID()}`
  // Slow enough to be stopped long before its end.
  await stack.provider.control.setFaults([{ prompt, text: 'one two three four five six seven', perChunkMs: 1_000 }])
  await message.fill(prompt)
  await send(page).click()
  const answer = answerOf(page, model)
  await answer.getByText('one').waitFor()
  await page.getByRole('button', { name: 'Stop', exact: true }).click()
  await answer.getByText('The call continues to its end').waitFor()
  await answer.getByText(/^Charged/).waitFor()
  const micro = await settled()
  expect(micro).toBeGreaterThan(0n)
  await answer.getByText(dollars(micro)).waitFor()
  await answer.getByRole('link', { name: 'View call' }).click()
  await page.getByRole('region', { name: 'Call details' }).getByText(dollars(micro)).first().waitFor()
  expect(problems).toEqual([])
})

test('a refused message shows the error with its resolution in place, and is not charged [key_limit]', async ({
  stack,
  visit,
}) => {
  const { page } = await visit()
  const { model, message, settled, project, owner } = await player(stack, page, '0.000001')
  await page.getByText('Parameters', { exact: true }).click()
  await page.getByLabel('Temperature').fill('3')
  await message.fill('Write a line about rain.')
  await page.getByText('Fix the parameters first.').waitFor()
  expect(await send(page).isDisabled()).toBe(true)
  await page.getByLabel('Temperature').fill('0.3')
  await send(page).click()
  const answer = answerOf(page, model)
  await answer.getByRole('alert').getByText('key_limit').waitFor()
  await answer.getByText(/^Charged/).waitFor()
  expect(await settled()).toBe(0n)

  await signOut(page)
  expect(await page.evaluate('Object.keys(sessionStorage).filter((name) => name.startsWith("playground"))')).toEqual([])
  const { url } = stack.gateways[0]!
  const user = callerAt(url, (await stack.fixture.token(owner)).secret)
  const { body } = await user.ask('GET', `/api/v2/tenants/${project.tenant}/keys?project=${project.id}`)
  const made = (body.data as { name: string; state: string }[]).filter(({ name }) => name.startsWith('Playground:'))
  expect(made).toMatchObject([{ state: 'Revoked' }])
})

test('View code shows code that sends exactly the same request', async ({ stack, visit }) => {
  const { page, problems } = await visit()
  const { message, key } = await player(stack, page)
  const prompt = `What's "rain"? ${randomUUID()}`
  await stack.provider.control.setFaults([{ prompt, text: 'Water.' }])
  await page.getByLabel('System message').fill('Be short.')
  await page.getByText('Parameters', { exact: true }).click()
  await page.getByLabel('Max output tokens').fill('50')
  await message.fill(prompt)
  await page.getByText('View code').click()
  const code = page.locator('.playground-code')
  const shown = async (title: string) => {
    await choose(code, 'Language or tool', title)
    return (await code.locator('pre').last().textContent()) ?? ''
  }
  const env = { ...process.env, GATEWAY_KEY: key.secret }
  const runsHere = [
    ['curl', 'bash', '-ec', '[DONE]'],
    ['openai for JavaScript', process.execPath, '--input-type=module --eval', 'Water.'],
    ['Vercel AI SDK', process.execPath, '--input-type=module --eval', 'Water.'],
    ['LangChain', process.execPath, '--input-type=module --eval', 'Water.'],
  ] as const
  for (const [title, program, options, said] of runsHere) {
    const args = [...options.split(' '), await shown(title)]
    expect((await run(program, args, { env, cwd: import.meta.dirname })).stdout).toContain(said)
  }
  expect(await shown('openai for Python')).toContain(JSON.stringify(prompt))
  await send(page).click()
  await page
    .getByText(/^Charged/)
    .first()
    .waitFor()
  const sent = (await stack.provider.control.calls({ prompt })).map(({ body }) => JSON.parse(body!) as object)
  expect(sent).toHaveLength(runsHere.length + 1)
  for (const body of sent) expect(body).toEqual(sent.at(-1))
  expect(problems).toEqual([])
})

test('a flow runs from a form of its contract, and its code works as shown', async ({ stack, visit }) => {
  const owner = await consoleOwner(stack)
  const { id } = await stack.fixture.sandbox(owner.project, flows.draft(owner.model))
  const { page, problems } = await signedInAt(visit, owner, `${owner.home}/playground`)
  await page.getByRole('navigation', { name: 'Playground mode' }).getByRole('link', { name: 'Flows' }).click()
  await page.getByLabel('text', { exact: true }).fill('Write about rain.')
  await page.getByRole('button', { name: 'Estimate cost' }).click()
  await page.getByText('At most').waitFor()
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  const outcome = page.getByRole('region', { name: 'Result of the execution' })
  await outcome.getByText('Succeeded').waitFor()
  const { settled } = await stack.wallet(owner.project.id)
  await outcome.getByText(dollars(settled)).waitFor()
  await page.getByRole('table', { name: 'Nodes' }).getByText(dollars(settled)).waitFor()

  await page.getByText('View code').click()
  const code = await page.locator('.playground-code pre').last().textContent()
  const env = { ...process.env, GATEWAY_KEY: owner.key.secret }
  const lines = (await run('bash', ['-ec', code!], { env })).stdout.trim().split('\n')
  expect(JSON.parse(lines.at(-1)!)).toMatchObject({ kind: 'complete', execution: { sandbox: id, status: 'Succeeded' } })
  await page.goto(`${owner.home}/playground?flow=${id}`)
  await page.getByLabel('text', { exact: true }).waitFor()
  expect([await hindrances(page), problems]).toEqual([[], []])
})

test('an image is previewed before sending and reaches the model unchanged', async ({ stack, visit }) => {
  const { page, problems } = await visit()
  const { home, project, message, settled } = await player(stack, page)
  const seeing = await stack.fixture.publishProduct({
    promptPico: 1_000_000n,
    completionPico: 1_000_000n,
    maxTokensPerImage: 100,
  })
  await stack.fixture.assign(project.id, seeing)
  await page.goto(`${home}/models`)
  await page.getByRole('row').filter({ hasText: seeing }).getByRole('link', { name: /^Try / }).click()
  const prompt = `What is on it? ${randomUUID()}`
  await message.fill(prompt)
  const file = page.locator('input[type=file]')
  await file.setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no image') })
  await page.getByText('Choose PNG, JPEG, WebP or GIF images.').waitFor()
  await file.setInputFiles({ name: 'point.png', mimeType: 'image/png', buffer: PNG })
  await expect.poll(() => page.evaluate('document.querySelector("canvas")?.width')).toBe(1)
  await send(page).click()
  await answerOf(page, seeing)
    .getByText(/^Charged/)
    .waitFor()
  await page
    .getByRole('group', { name: 'Charged for this conversation' })
    .getByText(dollars(await settled()))
    .waitFor()
  const [call] = await stack.provider.control.calls({ prompt })
  expect(call!.body).toContain(`data:image/png;base64,${PNG.toString('base64')}`)
  expect(problems).toEqual([])
})

test('a budget refusal offers a retry with an affordable token limit [insufficient_budget] [key_limit]', async ({
  stack,
  visit,
}) => {
  const { page, problems } = await visit()
  const { model, home, project, message, settled } = await player(stack, page, '0.0003')
  const answer = answerOf(page, model)
  await message.fill('Write a line about rain.')
  await send(page).click()
  await answer.getByRole('alert').getByText('key_limit').waitFor()
  const fewer = page.getByRole('button', { name: /^Retry with at most \d+ tokens$/ })
  await fewer.click()
  await answer.getByText(/input tokens, \d+ output/).waitFor()
  const dear = await stack.fixture.publishProduct({ promptPico: 1_000_000n, completionPico: 50_000_000_000n })
  await stack.fixture.assign(project.id, dear)

  await page.getByRole('button', { name: 'Revoke key' }).click()
  await page.getByLabel('Spending limit (USD)').fill('1000')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('button', { name: 'Revoke key' }).waitFor()
  await page.goto(`${home}/playground?model=${encodeURIComponent(dear)}`)
  await page.getByText('Parameters', { exact: true }).click()
  await page.getByLabel('Max output tokens').fill('')
  await message.fill('Write a line about snow.')
  await send(page).click()
  await answerOf(page, dear).getByRole('alert').getByText('insufficient_budget').waitFor()
  await fewer.click()
  await answerOf(page, dear)
    .getByText(/input tokens, \d+ output/)
    .waitFor()
  await page
    .getByRole('group', { name: 'Charged for this conversation' })
    .getByText(dollars(await settled()))
    .waitFor()
  expect(await hindrances(page)).toEqual([])
  expect([(await stack.invocations(project.id)).length, problems]).toEqual([2, []])
})
