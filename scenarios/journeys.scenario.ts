import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect } from 'vitest'
import { consoleTest as base } from './src/console/console-test.ts'
import type { Page } from './src/console/browser.ts'
import { handOf, hands } from './src/console/hands.ts'
import { placesOf } from './src/console/places.ts'
import { consoleOwner, PASSWORD } from './src/console/users.ts'
import { chat } from './src/stack.ts'

// Three stories on the whole service, each with the mouse and with the keyboard alone.

const wide = { width: 1440, colorScheme: 'light' } as const
const run = promisify(execFile)
const clipboard = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()')
const dollars = (micro: bigint) => `$${(Number(micro) / 1e6).toFixed(6)}`

describe.for(hands)('with the %s', (kind) => {
  const test = base.extend('owner', async ({ stack, visit }) => {
    const owner = await consoleOwner(stack)
    const { page, problems } = await visit(wide)
    const [hand, places] = [handOf(page, kind), placesOf(page)]
    const enter = async (address: string) => {
      await page.goto(address)
      await hand.write(places.signIn.email, owner.email)
      await hand.write(places.signIn.password, PASSWORD)
      await hand.press(places.signIn.submit)
    }
    /** Creates a key on the screen of keys, and returns its secret. */
    const createKey = async (name: string, narrowed?: { limit: string }) => {
      await hand.press(places.button('Create key').first())
      await hand.write(places.createKey.name, name)
      if (narrowed) {
        await hand.write(places.createKey.limit, narrowed.limit)
        await hand.mark(places.createKey.selected)
        await hand.mark(places.createKey.product(owner.model))
      }
      await hand.press(places.createKey.submit)
      return places.secret.text.innerText()
    }
    return { ...owner, page, problems, hand, places, enter, createKey }
  })

  test('a developer creates a key, runs the copied command, and sees what the call cost', async ({ stack, owner }) => {
    const { page, problems, hand, places, enter, createKey } = owner
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await enter(owner.home)
    await hand.press(places.rail('API keys'))
    await createKey('website')
    await hand.press(places.secret.copyCommand)
    await expect.poll(() => clipboard(page)).toContain('curl')
    const { stdout } = await run('bash', ['-c', await clipboard(page)])
    expect(JSON.parse(stdout)).toMatchObject({ object: 'chat.completion' })
    await hand.press(places.secret.done)

    await hand.press(places.rail('Calls'))
    const row = places.row('website')
    await row.getByText('Charged').waitFor()
    const { settled } = await stack.wallet(owner.project.id)
    expect(settled).toBeGreaterThan(0n)
    await row.getByText(dollars(settled)).waitFor()
    await hand.press(row.getByRole('link').first())
    const sum = page.getByRole('region', { name: 'Cost breakdown' })
    await sum.getByText('completion tokens').waitFor()
    expect(await sum.locator('strong').innerText()).toBe(dollars(settled))
    expect(problems).toEqual([])
  })

  test('an author activates a new flow, through a conflict, a failed execution and its repair [revision_conflict]', async ({
    stack,
    owner,
  }) => {
    const { page, problems, hand, places, enter } = owner
    const { flow, conflict, run } = places
    await enter(`${owner.home}/flows`)
    await hand.press(places.button('Create flow').first())
    await hand.write(places.createFlow.name, 'Writer')
    await hand.press(places.createFlow.submit)
    await flow.node('Chat chat').waitFor()
    await hand.press(flow.save)
    await flow.state('Revision 1').waitFor()

    const second = await page.context().newPage()
    await second.goto(page.url())
    const other = { hand: handOf(second, kind), flow: placesOf(second).flow }
    await limitAnswer(other, '77')
    await other.hand.press(other.flow.save)
    await other.flow.state('Revision 2').waitFor()
    await second.close()
    await limitAnswer({ hand, flow }, '55')
    await hand.press(flow.save)
    await hand.mark(conflict.mine('chat'))
    await hand.press(conflict.submit)
    await flow.state('Revision 3').waitFor()

    await hand.press(run.tab)
    await hand.write(run.input('text'), 'Write about rain.')
    await hand.write(run.maxCost, '0.000001')
    await hand.press(run.start)
    await run.result.getByText('Failed', { exact: true }).waitFor()
    await run.result.getByText(/the execution may cost at most \$0\.000001/).waitFor()
    expect((await stack.wallet(owner.project.id)).settled).toBe(0n)
    await hand.write(run.maxCost, '1')
    await hand.press(run.start)
    await run.result.getByText('Succeeded', { exact: true }).waitFor()
    expect((await stack.wallet(owner.project.id)).settled).toBeGreaterThan(0n)

    await hand.press(flow.activate)
    await flow.state('Active').waitFor()
    expect(problems).toEqual([])
  })

  test('an owner renames a key on its page, pauses it, and resumes it [key_paused]', async ({ stack, owner }) => {
    const { page, problems, hand, places, enter, createKey } = owner
    await enter(`${owner.home}/keys`)
    const key = { ...owner.key, secret: await createKey('draft') }
    await hand.press(places.secret.done)
    const call = async () => (await (await chat(stack, { key, model: owner.model })).json()) as { error?: object }
    const title = (name: string) => page.getByRole('heading', { name, level: 1 })

    await hand.press(page.getByRole('link', { name: 'draft', exact: true }))
    await hand.press(places.button('Rename'))
    await hand.write(page.getByLabel('Name', { exact: true }), 'website')
    await hand.press(places.button('Rename key'))
    await title('website').waitFor()

    await hand.press(places.button('Pause'))
    await hand.press(places.button('Pause key'))
    await hand.press(places.button('Resume'))
    expect(await call()).toMatchObject({ error: { code: 'key_paused' } })
    await hand.press(places.button('Resume key'))
    await places.button('Pause').waitFor()
    expect(await call()).not.toHaveProperty('error')
    await hand.press(page.getByRole('link', { name: 'All API keys' }))
    await places.row('website').waitFor()
    expect(problems).toEqual([])
  })

  test('an owner hands out a key, then a narrower one, and revokes the first [key_revoked]', async ({
    stack,
    owner,
  }) => {
    const { page, problems, hand, places, enter, createKey } = owner
    await enter(`${owner.home}/keys`)
    const calls = async (secret: string) =>
      (await chat(stack, { key: { ...owner.key, secret }, model: owner.model })).status
    const wideSecret = await createKey('partner')
    await hand.press(places.secret.done)
    expect(await calls(wideSecret)).toBe(200)
    const narrowSecret = await createKey('narrow', { limit: '0.5' })
    await hand.press(places.secret.done)
    const narrow = places.row('narrow')
    await narrow.getByText(owner.model).waitFor()
    await narrow.getByText('of $0.50 per day').waitFor()

    await hand.press(places.button('Actions for partner'))
    await hand.choose('Revoke')
    await hand.press(places.button('Revoke key'))
    await page.getByText('Key partner revoked.').first().waitFor()
    await places.row('partner').waitFor({ state: 'detached' })
    const refused = await chat(stack, { key: { ...owner.key, secret: wideSecret }, model: owner.model })
    expect(await refused.json()).toMatchObject({ error: { code: 'key_revoked' } })
    expect(await calls(narrowSecret)).toBe(200)
    expect(problems).toEqual([])
  })
})

/** Sets the most tokens of the chat node's answer. */
async function limitAnswer(
  { hand, flow }: { hand: ReturnType<typeof handOf>; flow: ReturnType<typeof placesOf>['flow'] },
  tokens: string,
): Promise<void> {
  await hand.press(flow.node('Chat chat'))
  await hand.write(flow.maxTokens, tokens)
}
