import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { callerAt, said } from './src/caller.ts'
import { chattyStackTest } from './src/chatty-stack-test.ts'
import { paidFlow } from './src/paid-flows.ts'
import { hindrances, isTooWide } from './src/console/browser.ts'
import { consoleTest } from './src/console/console-test.ts'
import { consoleOwner, signIn } from './src/console/users.ts'
import { chooseAction, dialogClosed } from './src/console/widgets.ts'

// Capture of prompts and answers (rules §7.11), on services in separate processes that log and trace all they can.

const test = chattyStackTest
  /** A project with a product and a flow, its owner, and what is kept of it. */
  .extend('made', async ({ stack }) => {
    const { fixture, gateways } = stack
    const owners = await fixture.tenant()
    const project = await fixture.project(owners, 1_000_000_000n)
    const model = await fixture.publishProduct({ promptPico: 1_000_000n, completionPico: 1_000_000n })
    await fixture.assign(project.id, model)
    const flow = (await fixture.sandbox(project, paidFlow(model, 1), { activate: true })).id
    const { secret } = await fixture.key({ project, by: owners.owner })
    const url = gateways[0]!.url
    const key = callerAt(url, secret)
    const owner = callerAt(url, (await fixture.session(owners.owner)).secret)
    const at = `/api/v2/tenants/${owners.tenant}/projects/${project.id}`
    const chat = async (content: string, more: object = {}) => {
      const body = { model, messages: [{ role: 'user', content }], max_tokens: 50, ...more }
      const answer = await key.ask('POST', '/v1/chat/completions', body)
      return { answer, invocation: answer.headers.get('x-service-invocation')! }
    }
    return {
      tenant: owners.tenant,
      user: owners.owner,
      flow,
      key,
      owner,
      at,
      chat,
      content: (invocation: string, by = owner) => by.ask('GET', `${at}/invocations/${invocation}/content`),
      capture: async (capture: object | null) =>
        expect(said(await owner.ask('PATCH', at, { capture }, { 'sec-fetch-site': 'same-origin' }))).toBe('200'),
      grant: async (user: string, role: string, readsContent: boolean) =>
        expect(
          (await owner.ask('POST', `${at}/grants`, { user, role, readsContent }, { 'sec-fetch-site': 'same-origin' }))
            .body.readsContent,
        ).toBe(readsContent),
      kept: async () =>
        (await fixture.run('SELECT invocation FROM money.captured_content WHERE project = $1', [project.id])).rows
          .length,
    }
  })

const settings = { retentionDays: 7, hide: ['email', 'card'], patterns: ['CUST-[0-9]+'] }
const plainWord = () => `falcon${randomUUID().slice(0, 8)}`

function foundIn(places: Record<string, string>, words: string[]): string[] {
  return Object.entries(places).flatMap(([place, text]) =>
    words.filter((word) => text.includes(word)).map((word) => `${word} in ${place}`),
  )
}

test('on: content is kept encrypted without planted secrets, for those with the right, until its retention ends', async ({
  made,
  stack,
  places,
}) => {
  const word = plainWord()
  const secret = `svc_${'k'.repeat(40)}`
  const planted = ['ada@example.com', '4111 1111 1111 1111', 'CUST-0042', secret]
  const prompt = `Repeat ${word}: ${planted.join(', ')}`
  await made.capture(settings)
  await expect
    .poll(async () => (await made.chat('warm'), made.kept()), { interval: 1_000, timeout: 30_000 })
    .not.toBe(0)

  const whole = await made.chat(prompt)
  const streamed = await made.chat(prompt, { stream: true })
  await stack.provider.control.setFaults([{ prompt: 'Fault', status: 500 }])
  const failed = await made.chat(`Fault ${word}`)
  const run = await made.key.ask(
    'POST',
    `/v1/sandbox/${made.flow}/invoke`,
    { input: { text: prompt } },
    { 'idempotency-key': randomUUID(), accept: 'application/json' },
  )
  expect(run.body.childCalls).toHaveLength(1)
  const invocations = [whole.invocation, streamed.invocation, failed.invocation, run.body.childCalls[0] as string]

  expect(said(await made.content(whole.invocation))).toBe('403 not_permitted')
  await made.grant(made.user, 'Project Owner', true)
  const contents = await Promise.all(
    invocations.map(async (invocation) => {
      const read = () => made.content(invocation)
      await expect.poll(async () => said(await read()), { timeout: 20_000 }).toBe('200')
      return (await read()).body
    }),
  )
  for (const { request } of contents.slice(0, 2))
    expect(request.messages).toEqual([
      { role: 'user', content: `Repeat ${word}: [email], [card], [hidden], svc_kkkkkkkk…` },
    ])
  expect(contents[0].answer).toEqual(contents[1].answer)
  expect(contents[0].answer[0]).toMatchObject({ role: 'assistant', content: expect.stringMatching(/./) })
  expect(contents[2]).toMatchObject({ answer: null, failure: 'provider_failed' })
  expect(JSON.stringify(contents[3].request.messages)).toContain(`${word}: [email], [card], [hidden]`)
  const all = JSON.stringify(contents)
  expect(planted.filter((each) => all.includes(each))).toEqual([])

  const other = await stack.fixture.user()
  const add = `INSERT INTO control.memberships (tenant, user_id, role) VALUES ($1, $2, 'Admin')`
  await stack.fixture.run(add, [made.tenant, other])
  await made.grant(other, 'Project Viewer', false)
  const viewer = callerAt(stack.gateways[0]!.url, (await stack.fixture.session(other)).secret)
  expect(said(await made.content(whole.invocation, viewer))).toBe('403 not_permitted')
  await made.grant(other, 'Project Viewer', true)
  expect(said(await made.content(whole.invocation, viewer))).toBe('200')
  const audit = (await made.owner.ask('GET', `/api/v2/tenants/${made.tenant}/audit?action=content.read`)).body.data
  expect(audit).toContainEqual(expect.objectContaining({ user: other, subject: whole.invocation }))

  // Encrypted at rest: not even the words that were not hidden are found.
  const rows = await stack.fixture.run('SELECT c::text AS row FROM money.captured_content c')
  expect(rows.rows.length).toBeGreaterThanOrEqual(4)
  expect(foundIn({ content: JSON.stringify(rows.rows) }, [word, ...planted])).toEqual([])
  const { 'files and logs': logs, traces } = await places()
  expect(foundIn({ logs, traces }, [word, ...planted])).toEqual([])

  await stack.fixture.run(`UPDATE money.captured_content SET at = at - interval '8 days'`)
  expect(said(await made.content(whole.invocation))).toBe('404 not_found')
  await stack.ledgers[0]!.stop()
  await stack.ledgers[0]!.start() // it deletes when it starts, and each minute
  await expect.poll(made.kept, { timeout: 20_000 }).toBe(0)
})

test('turning capture off deletes what was captured, and binds running calls', async ({ made, stack }) => {
  await made.capture(settings)
  await expect
    .poll(async () => (await made.chat('warm'), made.kept()), { interval: 1_000, timeout: 30_000 })
    .not.toBe(0)
  await made.grant(made.user, 'Project Owner', true)
  const { invocation } = await made.chat('Hello')
  await expect.poll(async () => said(await made.content(invocation)), { timeout: 20_000 }).toBe('200')
  await stack.provider.control.setFaults([{ prompt: 'Slowly', latencyMs: 2_000 }])
  const running = made.chat('Slowly, please')
  await made.capture(null)
  expect(said(await made.content(invocation))).toBe('404 not_found')
  expect((await running).answer.status).toBe(200)
  await stack.ledgers[0]!.stop()
  await stack.ledgers[0]!.start()
  await expect.poll(made.kept, { timeout: 20_000 }).toBe(0)
  await stack.gateways[0]!.stop() // sends what is left
  expect(await made.kept()).toBe(0)
  await stack.gateways[0]!.start()
})

test('off: nothing of a prompt or an answer is in the database, a file, a log or a trace', async ({
  made,
  stack,
  places,
}) => {
  const words = [plainWord(), plainWord(), plainWord()]
  await stack.provider.control.setFaults([{ prompt: 'Fault', status: 500 }])
  const calls = [
    await made.chat(`Say ${words[0]}`),
    await made.chat(`Say ${words[1]}`, { stream: true }),
    await made.chat(`Fault ${words[2]}`),
  ]
  expect(calls.map(({ answer }) => answer.status)).toEqual([200, 200, 502])
  await made.grant(made.user, 'Project Owner', true)
  expect(said(await made.content(calls[0]!.invocation))).toBe('404 not_found')
  for (const program of [...stack.gateways, ...stack.workers]) await program.stop()
  const found = await places()
  expect(found['Postgres, every row']).toContain(calls[0]!.invocation) // each place was searched
  expect(found['Postgres, every statement']).toContain('money.')
  expect(found['files and logs']).toContain('maintenance')
  expect(found.traces).toContain('POST /v1/chat/completions')
  expect(foundIn(found, words)).toEqual([])
})

consoleTest(
  'in the console, an owner turns capture on, gives the right, and reads a call',
  async ({ stack, visit }) => {
    const owner = await consoleOwner(stack)
    const { page, problems } = await visit()
    await page.goto(`${owner.home}/settings`)
    await signIn(page, owner)
    const section = page.getByRole('region', { name: 'Prompt capture' })
    await section.getByText('Prompts and answers of calls are not kept.').waitFor()
    await section.getByRole('button', { name: 'Turn on capture' }).click()
    const form = page.getByRole('dialog', { name: 'Turn on capture' })
    await form.getByLabel('Own patterns').fill('(\nCUST-[0-9]+')
    await form.getByRole('button', { name: 'Turn on capture' }).click()
    await form.getByText('is not a regular expression in RE2 syntax').first().waitFor()
    expect(await hindrances(page)).toEqual([])
    await form.getByLabel('Own patterns').fill('CUST-[0-9]+')
    await form.getByRole('button', { name: 'Turn on capture' }).click()
    await section.getByText('7 days').waitFor()
    await section.getByText('CUST-[0-9]+').waitFor()

    const ask = callerAt(stack.gateways[0]!.url, owner.key.secret).ask
    const messages = [{ role: 'user', content: 'Where is the parcel of CUST-0042, ada@example.com?' }]
    const body = { model: owner.model, messages, max_tokens: 20 }
    // The gateway learns within seconds that the project captures.
    const captured = async () => {
      await ask('POST', '/v1/chat/completions', body)
      const { rows } = await stack.fixture.run('SELECT invocation FROM money.captured_content WHERE project = $1', [
        owner.project.id,
      ])
      return rows[0]?.['invocation'] as string | undefined
    }
    await expect.poll(captured, { interval: 1_000 }).toBeDefined()
    const call = await captured()
    await page.goto(`${owner.home}/calls/${call}`)
    await page.getByText('This needs the right “Captured content”.').waitFor()
    await page.getByRole('region', { name: 'Prompt and answer' }).getByRole('link', { name: 'Users' }).click()
    await chooseAction(page, 'Change role')
    await page.getByLabel('Captured content').check()
    await page.getByRole('dialog').getByRole('button', { name: 'Change role' }).click()
    await dialogClosed(page)
    await page.getByText('Reads', { exact: true }).waitFor()
    await page.goto(`${owner.home}/calls/${call}`)
    const shown = page.getByRole('region', { name: 'Prompt and answer' })
    await shown.getByText('Where is the parcel of [hidden], [email]?').waitFor()
    await shown.getByText('Answer: Model').waitFor()
    expect(await hindrances(page)).toEqual([])
    expect(await isTooWide(page)).toBe(false)

    await page.goto(`${owner.home}/settings`)
    await section.getByRole('button', { name: 'Turn off' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Turn off and delete' }).click()
    await section.getByText('Prompts and answers of calls are not kept.').waitFor()
    await page.goto(`${owner.home}/calls/${call}`)
    await page.getByText('Not captured.').waitFor()
    expect(problems.filter((problem) => !/40[034]/.test(problem))).toEqual([])
  },
)
