import { useState, type ReactNode } from 'react'
import { QueryClientProvider } from '@tanstack/react-query'
import { createMemoryHistory, RouterContextProvider } from '@tanstack/react-router'
import { expect } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { exampleIds } from '@gateway/api/example-ids'
import { refuse } from '@gateway/api/refusal'
import { choose, contractExample, goBackNow, pageTest as test, project, showTabAgain } from '../page-test.fixture.tsx'
import { useChange } from '../api/queries.ts'
import { openQueryClient } from '../api/query-client.ts'
import { openRouter } from '../router.tsx'
import { Dialog, FormDialog } from './dialog.tsx'
import { Select } from './select.tsx'

function Opener({ stays }: { stays: boolean }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Rename
      </button>
      <button type="button">Elsewhere</button>
      {isOpen && (
        <Dialog title="Rename flow" stays={stays} onClose={() => setOpen(false)}>
          <input aria-label="Name" />
          <button type="button" onClick={() => setOpen(false)}>
            Done
          </button>
        </Dialog>
      )}
    </>
  )
}

const dialog = page.getByRole('dialog', { name: 'Rename flow' })
const opener = page.getByRole('button', { name: 'Rename' })
const focusIsIn = (element: Element) => element.contains(document.activeElement)

test('a dialog takes the focus, keeps it, and returns it on Escape', async ({ show }) => {
  await show(<Opener stays={false} />)
  const outside = [opener, page.getByText('Elsewhere')].map((each) => each.element())
  await opener.click()
  await expect.poll(() => focusIsIn(dialog.element())).toBe(true)
  for (const keys of ['{Tab}', '{Tab}', '{Tab}', '{Tab}', '{Shift>}{Tab}{/Shift}', '{Shift>}{Tab}{/Shift}']) {
    await userEvent.keyboard(keys)
    expect(outside.some(focusIsIn)).toBe(false)
  }
  await dialog.getByLabelText('Name').click()
  await userEvent.keyboard('{Escape}')
  await expect.element(dialog).not.toBeInTheDocument()
  await expect.element(opener).toHaveFocus()
})

test('a dialog that stays ignores Escape, and closes by its button', async ({ show }) => {
  await show(<Opener stays />)
  await opener.click()
  await dialog.getByLabelText('Name').fill('typed')
  await userEvent.keyboard('{Escape}')
  await expect.element(dialog.getByLabelText('Name')).toHaveValue('typed')
  await dialog.getByRole('button', { name: 'Done' }).click()
  await expect.element(dialog).not.toBeInTheDocument()
  await expect.element(opener).toHaveFocus()
})

function FormOpener() {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Rename
      </button>
      {isOpen && <RenameForm onClose={() => setOpen(false)} />}
    </>
  )
}

const languages = [
  ['en', 'English'],
  ['de', 'German'],
] as const

function RenameForm({ onClose }: { onClose: () => void }) {
  const change = useChange(() => Promise.resolve(), 'Renamed.')
  const [language, setLanguage] = useState<'en' | 'de'>('en')
  return (
    <FormDialog title="Rename flow" submit="Rename flow" change={change} onClose={onClose}>
      <input aria-label="Name" />
      <Select aria-label="Language" value={language} options={languages} onChange={setLanguage} />
    </FormDialog>
  )
}

function InConsole({ router, children }: { router: ReturnType<typeof openRouter>; children: ReactNode }) {
  return (
    <RouterContextProvider router={router}>
      <QueryClientProvider client={openQueryClient()}>{children}</QueryClientProvider>
    </RouterContextProvider>
  )
}

const question = page.getByRole('dialog', { name: 'Unsaved changes' })

const ways = {
  Escape: () => userEvent.keyboard('{Escape}'),
  'a press outside': () => userEvent.click(document.querySelector('.dialog-backdrop')!, { position: { x: 5, y: 5 } }),
  Cancel: () => dialog.getByRole('button', { name: 'Cancel' }).click(),
}

test.for(Object.keys(ways) as (keyof typeof ways)[])(
  '%s closes a form only after asking about typed text',
  async (way, { show }) => {
    await show(
      <InConsole router={openRouter(createMemoryHistory())}>
        <FormOpener />
      </InConsole>,
    )
    await opener.click()
    await ways[way]()
    await expect.element(dialog).not.toBeInTheDocument()

    await opener.click()
    const name = dialog.getByLabelText('Name')
    await name.fill('typed')
    await ways[way]()
    await expect.element(question).toBeVisible()
    await userEvent.keyboard('{Escape}')
    await expect.element(question).not.toBeInTheDocument()
    await expect.element(name).toHaveValue('typed')
    await ways[way]()
    await question.getByRole('button', { name: 'Leave' }).click()
    await expect.element(dialog).not.toBeInTheDocument()
    await expect.element(opener).toHaveFocus()

    await opener.click()
    await name.fill('typed')
    await dialog.getByRole('button', { name: 'Rename flow' }).click()
    await expect.element(dialog).not.toBeInTheDocument()
    await expect.element(question).not.toBeInTheDocument()
  },
)

test('a form asks before it loses a chosen option', async ({ show }) => {
  await show(
    <InConsole router={openRouter(createMemoryHistory())}>
      <FormOpener />
    </InConsole>,
  )
  await opener.click()
  await choose(dialog.getByRole('combobox', { name: 'Language' }), 'German')
  await expect.element(page.getByRole('listbox')).not.toBeInTheDocument()
  await userEvent.keyboard('{Escape}')
  await expect.element(question).toBeVisible()
})

test('a form asks before it loses that a value was removed', async ({ api, open }) => {
  api.answer('readThresholds', { belowMicro: [5_000_000], keyPercents: [], daysLeft: null })
  const { screen } = await open(`${project}/notices`)
  await screen.getByRole('button', { name: 'Edit alert rules' }).click()
  await screen.getByRole('button', { name: /^Remove \$5\.00/ }).click()
  await userEvent.keyboard('{Escape}')
  await expect.element(question).toBeVisible()
})

test('a form that opens another screen once it is saved asks nothing', async ({ show }) => {
  const router = openRouter(createMemoryHistory())
  await show(
    <InConsole router={router}>
      <RenameForm onClose={() => void router.navigate({ to: '/account' })} />
    </InConsole>,
  )
  await dialog.getByLabelText('Name').fill('typed')
  await dialog.getByRole('button', { name: 'Rename flow' }).click()
  await expect.poll(() => router.history.location.pathname).toBe('/account')
})

test('a form shows a refusal and keeps what was typed [quota_reached]', async ({ api, open }) => {
  const refusal = refuse('quota_reached', {
    quota: 'keys',
    noun: 'active keys',
    used: 100,
    limit: 100,
    cure: 'Revoke a key',
  })
  api.answer('createKey', refusal)
  const { screen } = await open(`${project}/keys`)
  await screen.getByRole('button', { name: 'Create key' }).click()
  const form = screen.getByRole('dialog', { name: 'Create key' })
  await form.getByLabelText('Name', { exact: true }).fill('website')
  await form.getByLabelText('Spending limit (USD)').fill('2.5')
  await form.getByRole('button', { name: 'Create key' }).click()
  const shown = form.getByRole('alert')
  await expect.element(shown.getByText(refusal.body.message)).toBeVisible()
  await expect.element(shown.getByText(refusal.body.resolution)).toBeVisible()
  await expect.element(shown.getByRole('link', { name: 'quota_reached' })).toBeVisible()
  await expect.element(form.getByLabelText('Name', { exact: true })).toHaveValue('website')
  await expect.element(form.getByLabelText('Spending limit (USD)')).toHaveValue('2.5')
  expect(api.asked('createKey').at(-1)?.body).toMatchObject({
    project: exampleIds.project,
    name: 'website',
    limit: { micro: 2_500_000, reset: 'daily' },
  })
})

test('a finished action closes its dialog, shows a toast and announces it', async ({ open }) => {
  const { screen } = await open(`${project}/settings`)
  const limits = screen.getByRole('region', { name: 'Rate limits' })
  await limits.getByLabelText(/Requests per minute/).fill('120')
  await limits.getByRole('button', { name: 'Save' }).click()
  const toast = screen.getByText('Rate limits saved.').first()
  await expect.element(toast).toBeVisible()
  expect(toast.element().closest('[aria-live]')).not.toBeNull()
  await screen.getByRole('button', { name: 'Dismiss' }).click()
  await expect.element(toast).not.toBeInTheDocument()
})

test('neither Escape nor Cancel closes a dialog whose change is under way, and so no secret is lost', async ({
  api,
  open,
}) => {
  const made = Promise.withResolvers<ReturnType<typeof contractExample<'createKey'>>>()
  api.answer('createKey', made.promise)
  const { screen } = await open(`${project}/keys?create=true`)
  const form = screen.getByRole('dialog', { name: 'Create key' })
  await form.getByLabelText('Name', { exact: true }).fill('website')
  await form.getByRole('button', { name: 'Create key' }).click()
  await expect.poll(() => api.asked('createKey').length).toBe(1)
  await userEvent.keyboard('{Escape}')
  await expect.element(form.getByRole('button', { name: 'Cancel' })).toBeDisabled()
  made.resolve(contractExample('createKey'))
  await expect.element(screen.getByRole('dialog', { name: /^Secret for/ })).toBeVisible()
})

test('going back while a key is rotated does not lose its new secret', async ({ api, open }) => {
  const made = Promise.withResolvers<ReturnType<typeof contractExample<'rotateKey'>>>()
  api.answer('rotateKey', made.promise)
  const { screen, goTo, goBack } = await open('/', { hasBack: true })
  await goTo(`${project}/keys`)
  await screen
    .getByRole('button', { name: /^Actions for/ })
    .first()
    .click()
  await screen.getByRole('menuitem', { name: 'Rotate' }).click()
  await screen.getByRole('button', { name: 'Rotate key' }).click()
  await expect.poll(() => api.asked('rotateKey').length).toBe(1)
  await goBackNow(goBack)
  made.resolve(contractExample('rotateKey'))
  await expect.element(screen.getByRole('dialog', { name: /^Secret for/ })).toBeVisible()
  await expect.poll(() => location.pathname).toBe(`${project}/keys`)
})

test('going back while a key is created asks nothing, and does not lose its secret', async ({ api, open }) => {
  const made = Promise.withResolvers<ReturnType<typeof contractExample<'createKey'>>>()
  api.answer('createKey', made.promise)
  const { screen, goTo, goBack } = await open('/', { hasBack: true })
  await goTo(`${project}/keys?create=true`)
  const form = screen.getByRole('dialog', { name: 'Create key' })
  await form.getByLabelText('Name', { exact: true }).fill('website')
  await form.getByRole('button', { name: 'Create key' }).click()
  await expect.poll(() => api.asked('createKey').length).toBe(1)
  await goBackNow(goBack)
  made.resolve(contractExample('createKey'))
  await expect.element(screen.getByRole('dialog', { name: /^Secret for/ })).toBeVisible()
  await expect.poll(() => location.pathname).toBe(`${project}/keys`)
  await screen.getByRole('button', { name: 'Done' }).click()
  await expect.element(screen.getByRole('dialog')).not.toBeInTheDocument()
})

test('a new key is not lost by Escape', async ({ open }) => {
  const { screen } = await open(`${project}/keys?create=true`)
  const form = screen.getByRole('dialog', { name: 'Create key' })
  await form.getByLabelText('Name', { exact: true }).fill('website')
  await userEvent.keyboard('{Escape}')
  await screen.getByRole('dialog', { name: 'Unsaved changes' }).getByRole('button', { name: 'Stay' }).click()
  await expect.element(form.getByLabelText('Name', { exact: true })).toHaveValue('website')
})

/** Whether the browser asks before it closes or reloads the page. */
const asksToClose = () => !window.dispatchEvent(new Event('beforeunload', { cancelable: true }))

test('going back asks before a secret that is shown once is lost', async ({ open }) => {
  const { screen, address, goBack } = await open(`${project}/keys`, { hasBack: true })
  await screen.getByRole('button', { name: 'Create key' }).click()
  const form = screen.getByRole('dialog', { name: 'Create key' })
  await form.getByLabelText('Name', { exact: true }).fill('website')
  await form.getByRole('button', { name: 'Create key' }).click()
  const secret = screen.getByRole('dialog', { name: /^Secret for/ })
  await expect.element(secret).toBeVisible()
  expect(asksToClose()).toBe(true)
  goBack()
  const question = screen.getByRole('dialog', { name: 'Shown only once' })
  await question.getByRole('button', { name: 'Stay' }).click()
  await expect.element(question).not.toBeInTheDocument()
  await expect.element(secret.getByText(contractExample('createKey').secret!, { exact: true })).toBeVisible()
  await secret.getByRole('button', { name: 'Done' }).click()
  await expect.element(secret).not.toBeInTheDocument()
  await expect.element(question).not.toBeInTheDocument()
  expect(address().search).toEqual({})
  expect(asksToClose()).toBe(false)
})

test('going back asks before recovery codes are lost', async ({ api, open }) => {
  api.answer('readSecondFactor', { ...contractExample('readSecondFactor'), confirmedAt: '2026-01-01T00:00:00.000Z' })
  const { screen, goTo, goBack } = await open('/', { hasBack: true })
  await goTo('/account')
  await screen.getByRole('button', { name: 'Replace recovery codes' }).click()
  const form = screen.getByRole('dialog', { name: 'Replace recovery codes?' })
  await form.getByLabelText('Code').fill('123456')
  await form.getByRole('button', { name: 'Replace recovery codes' }).click()
  const codes = screen.getByRole('dialog', { name: 'Recovery codes' })
  await expect.element(codes).toBeVisible()
  expect(asksToClose()).toBe(true)
  goBack()
  await screen.getByRole('dialog', { name: 'Shown only once' }).getByRole('button', { name: 'Stay' }).click()
  await codes.getByRole('button', { name: 'I stored the codes' }).click()
  await expect.element(codes).not.toBeInTheDocument()
  expect(asksToClose()).toBe(false)
})

test('going back asks before a form loses what was typed', async ({ open }) => {
  const { screen, address, goBack } = await open(`${project}/keys`, { hasBack: true })
  const create = screen.getByRole('button', { name: 'Create key' })
  const form = screen.getByRole('dialog', { name: 'Create key' })
  const question = screen.getByRole('dialog', { name: 'Unsaved changes' })
  await create.click()
  await expect.element(form).toBeVisible()
  expect(asksToClose()).toBe(false)
  goBack()
  await expect.element(form).not.toBeInTheDocument()

  await create.click()
  const name = form.getByLabelText('Name', { exact: true })
  await name.fill('website')
  expect(asksToClose()).toBe(true)
  goBack()
  await question.getByRole('button', { name: 'Stay' }).click()
  await expect.element(name).toHaveValue('website')
  await form.getByRole('button', { name: 'Cancel' }).click()
  await question.getByRole('button', { name: 'Leave' }).click()
  await expect.element(form).not.toBeInTheDocument()
  await expect.poll(() => address().search).toEqual({})

  await create.click()
  await name.fill('website')
  goBack()
  await question.getByRole('button', { name: 'Leave' }).click()
  await expect.element(form).not.toBeInTheDocument()
})

test('going back is refused if what it would lose closes before the user answers', async ({ api, open }) => {
  const { screen, goTo, goBack } = await open('/', { hasBack: true })
  await goTo(`${project}/keys`)
  await screen
    .getByRole('button', { name: /^Actions for/ })
    .first()
    .click()
  await screen.getByRole('menuitem', { name: 'Rename' }).click()
  await screen
    .getByRole('dialog', { name: /^Rename/ })
    .getByLabelText('Name')
    .fill('website')
  goBack()
  await expect.element(screen.getByRole('dialog', { name: 'Unsaved changes' })).toBeVisible()
  api.answer('listKeys', { data: [], nextCursor: null })
  showTabAgain()
  await expect.element(screen.getByRole('dialog')).not.toBeInTheDocument()
  await expect.poll(() => location.pathname).toBe(`${project}/keys`)
})

test('a form focuses the field that it refuses, and shows it on a phone', async ({ open, onTestFinished }) => {
  await page.viewport(360, 640)
  onTestFinished(() => page.viewport(1440, 900))
  const { screen } = await open(`${project}/keys?create=true`)
  const form = screen.getByRole('dialog', { name: 'Create key' })
  await form.getByLabelText('Name', { exact: true }).fill('website')
  const limit = form.getByLabelText('Spending limit (USD)')
  await limit.fill('0')
  await form.getByRole('button', { name: 'Create key' }).click()
  await expect.element(limit).toHaveFocus()
  await expect.element(limit).toBeInViewport({ ratio: 1 })
  await form.getByRole('button', { name: 'Create key' }).click()
  await expect.element(limit).toHaveFocus()
})

test('a secret that could not be copied is not called copied', async ({ open, onTestFinished }) => {
  const { writeText } = navigator.clipboard
  const { execCommand } = document
  onTestFinished(() => {
    Object.assign(navigator.clipboard, { writeText })
    Object.assign(document, { execCommand })
  })
  Object.assign(navigator.clipboard, { writeText: () => Promise.reject(new Error('denied')) })
  Object.assign(document, { execCommand: () => false })
  const { screen } = await open(`${project}/keys?create=true`)
  await screen.getByLabelText('Name', { exact: true }).fill('website')
  await screen.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  await screen.getByRole('button', { name: 'Copy secret' }).click()
  await expect.element(screen.getByText('Copying failed. Select the text and copy it.').first()).toBeVisible()
  await expect.element(screen.getByText('Copied.')).not.toBeInTheDocument()
})
