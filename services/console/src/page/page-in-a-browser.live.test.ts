import { Browser, type BrowserPage } from 'happy-dom'
import { expect } from 'vitest'
import { consoleTest, type Caller } from '../console.fixture.ts'

// The page as a browser runs it: loaded from the console, signed in by its own form, drawn from the API.

const PASSWORD = 'correct horse battery'

const test = consoleTest.extend('openPage', async ({ console }, { onCleanup }) => {
  const browser = new Browser({
    settings: { enableJavaScriptEvaluation: true, suppressInsecureJavaScriptEnvironmentWarning: true },
  })
  onCleanup(() => browser.close())
  return async (person: Caller): Promise<BrowserPage> => {
    await person.put('/api/v2/me/password', { password: PASSWORD })
    const page = browser.newPage()
    await page.goto(`${console.url}/console`)
    await page.waitUntilComplete()
    const { document } = page.mainFrame
    const field = (name: string) => document.querySelector(`input[name=${name}]`) as unknown as { value: string }
    field('email').value = `${person.id}@example.test`
    field('password').value = PASSWORD
    document.querySelector('form')!.requestSubmit()
    await page.waitUntilComplete()
    return page
  }
})

/** What is read under a heading, by whoever sees the page. */
function under(page: BrowserPage, heading: RegExp): string | null {
  const found = [...page.mainFrame.document.querySelectorAll('section')].findLast((section) =>
    heading.test(section.querySelector('h3, h2')?.textContent ?? ''),
  )
  return found?.textContent.replaceAll(/\s+/g, ' ') ?? null
}

test('shows a key from before keys were bound to projects as Needs reissue, until it is revoked there', async ({
  stack,
  fixture,
  openPage,
}) => {
  const legacy = await fixture.key({ project: null, tenant: stack.tenant, by: stack.owner.id })
  const bound = await stack.owner.post(`${stack.path}/keys`, { project: stack.project, name: 'bound' })
  const page = await openPage(stack.owner)
  const { document } = page.mainFrame
  const shown = under(page, /before keys were bound to projects/)
  expect(shown).toContain('1 key from before keys were bound to projects')
  expect(shown).toContain(`a keyNeeds reissueSecret${legacy.secret.slice(0, 12)}…`)
  expect(shown).toContain('create a new key there, and revoke the old one')
  expect(shown).not.toContain(bound.body.key.prefix)

  const press = (which: string, label: string) =>
    [...document.querySelectorAll(which)]
      .find(({ textContent }) => textContent === label)!
      .dispatchEvent(new page.mainFrame.window.MouseEvent('click', { bubbles: true }))
  press('button[aria-label="Revoke a key"]', 'Revoke')
  press('dialog button', 'Revoke it')
  await page.waitUntilComplete()
  expect(under(page, /before keys were bound to projects/)).toBeNull()
  expect((await stack.owner.get(`${stack.path}/keys/${legacy.id}`)).body).toMatchObject({ state: 'Revoked' })
})
