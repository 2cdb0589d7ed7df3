import { expect } from 'vitest'
import { consoleTest as test } from './src/console/console-test.ts'
import { isTooWide } from './src/console/browser.ts'
import { consoleOwner, signIn } from './src/console/users.ts'
import { choose } from './src/console/widgets.ts'
import { chat } from './src/stack.ts'

// What a user asks of usage: which call was expensive and why, and what each tag cost.

test('a user finds the most expensive call of yesterday, and sees why it cost that and what took its time', async ({
  stack,
  visit,
}) => {
  const tenant = await consoleOwner(stack)
  const tries = JSON.stringify([
    { provider: 'first', startMs: 2, endMs: 1_502, outcome: 'timeout' },
    { provider: 'second', startMs: 1_502, endMs: 9_400, outcome: 'answered' },
  ])
  await stack.fixture.run(
    `INSERT INTO money.attempts (id, invocation, attempt, state, project, key, lineage, product, reserved_micro, charged_micro,
                                 prompt_pico, completion_pico, prompt_tokens, completion_tokens, admitted_at, closed_at, first_token_ms, tries)
     SELECT id, id, 1, 'Settled', $1, $2, $2, $3, 100000, tokens, 0, 1000000, 10, tokens, at, at + interval '9420 ms', 2100, $4
       FROM (VALUES (60, '1 minute'), (40000, '3 hours'), (500, '5 hours'), (90000, '3 days')) c (tokens, before)
      CROSS JOIN LATERAL (SELECT 'inv_' || $1 || tokens AS id, date_trunc('day', now()) - before::interval AS at) t`,
    [tenant.project.id, tenant.key.id, tenant.model, tries],
  )
  const today = new Date().setUTCHours(0, 0, 0, 0)
  for (const [micro, hours] of [
    [60, 1],
    [40_000, 3],
    [500, 5],
  ] as const)
    await stack.fixture.usage(tenant.project.id, {
      at: new Date(today - hours * 3_600_000),
      micro,
      model: tenant.model,
    })
  const { page, problems } = await visit()
  await page.goto(`${tenant.home}/calls`)
  await signIn(page, tenant)
  await choose(page, 'Time', 'yesterday')
  await choose(page, 'Order', 'Most expensive first')
  const table = page.getByRole('table', { name: 'Calls, most expensive first' })
  await page.getByText('Latency p50 9.4 s, p95 9.4 s', { exact: false }).waitFor()
  await expect.poll(() => table.getByRole('row').count()).toBe(4)
  const first = table.getByRole('row').nth(1)
  await first.getByText('$0.04', { exact: true }).waitFor()
  await first.getByRole('link').first().click()

  const sum = page.getByRole('region', { name: 'Cost breakdown' })
  await sum.getByRole('row', { name: 'completion tokens 40,000 $0.000001 $0.04' }).waitFor()
  const timeline = page.getByRole('region', { name: 'Timeline' })
  expect(await timeline.getByRole('listitem').allInnerTexts()).toEqual(
    [
      ['Admitted', '0 ms'],
      ['Attempt 1: timed out', '2 – 1,502 ms'],
      ['Attempt 2: answered', '1,502 – 9,400 ms'],
      ['First token', '2,100 ms'],
      ['Charged', '9,420 ms'],
    ].map((texts) => expect.stringMatching(new RegExp(`^${texts.join('\\s+')}$`))),
  )
  await page.setViewportSize({ width: 360, height: 800 })
  expect(await isTooWide(page)).toBe(false)
  expect(problems).toEqual([])
})

test('usage of this month by tag as CSV equals the tags of the statement, to the micro-USD', async ({
  stack,
  visit,
}) => {
  const tenant = await consoleOwner(stack)
  for (const tag of ['nightly', 'nightly', 'website', null])
    expect((await chat(stack, tenant, { headers: tag === null ? {} : { 'x-service-tag': tag } })).status).toBe(200)
  const { page, problems } = await visit()
  await page.goto(`${tenant.home}/usage`)
  await signIn(page, tenant)
  await choose(page, 'Group by', 'By tag')
  await choose(page, 'Time', 'This month')
  await page
    .getByRole('region', { name: 'Usage' })
    .getByRole('row', { name: /nightly/ })
    .waitFor()
  const href = await page.getByRole('link', { name: 'CSV' }).getAttribute('href')
  const csv = await page.evaluate<string>(`fetch(${JSON.stringify(href)}).then((answer) => answer.text())`)
  const [head, ...lines] = csv.trim().split('\r\n')
  const columns = head!.split(',')
  const ofTags = new Map<string | null, number>()
  for (const line of lines) {
    const fields = line.split(',')
    const [tag, micro] = [fields[columns.indexOf('tag')] || null, Number(fields[columns.indexOf('charged_micro')])]
    ofTags.set(tag, (ofTags.get(tag) ?? 0) + micro)
  }
  const { body } = await tenant.caller.ask(
    'GET',
    `/api/v2/tenants/${tenant.project.tenant}/projects/${tenant.project.id}/statement`,
  )
  const { tags } = body as { tags: { tag: string | null; chargedMicro: number }[] }
  expect(ofTags).toEqual(new Map(tags.map(({ tag, chargedMicro }) => [tag, chargedMicro])))
  expect(ofTags.size).toBe(3)
  expect(problems).toEqual([])
})
