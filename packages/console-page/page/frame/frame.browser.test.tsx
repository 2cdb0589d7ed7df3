import { expect } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { contractExample, pageTest as test, project, showTabAgain } from '../page-test.fixture.tsx'
import { refuse } from '@gateway/api/refusal'
import { announceQuietly } from './announcer.ts'

test('the same announcement made twice is read twice', async ({ open, onTestFinished }) => {
  const { screen } = await open(project)
  await expect.element(screen.getByRole('heading', { name: 'Overview', level: 1 })).toBeVisible()
  const region = document.querySelector('.visually-hidden[role="status"]')!
  let read = 0
  const observer = new MutationObserver(() => read++)
  observer.observe(region, { childList: true, characterData: true, subtree: true })
  onTestFinished(() => observer.disconnect())
  for (const times of [1, 2]) {
    announceQuietly('Response complete.')
    await expect.poll(() => [read, region.textContent]).toEqual([times, 'Response complete.'])
  }
})

test('on a small screen the opened rail takes the focus, and Escape returns it to its button', async ({
  open,
  onTestFinished,
}) => {
  await page.viewport(360, 800)
  onTestFinished(() => page.viewport(1280, 900))
  const { screen } = await open(project)
  const button = screen.getByRole('button', { name: 'Navigation' })
  const rail = screen.getByRole('navigation', { name: 'Console' })
  await expect.element(button).toBeVisible()
  button.element().focus()
  await userEvent.keyboard('{Enter}')
  await expect.element(rail.getByRole('link').first()).toHaveFocus()
  await userEvent.keyboard('{Tab}')
  expect(rail.element().contains(document.activeElement)).toBe(true)
  await userEvent.keyboard('{Escape}')
  await expect.element(rail).not.toBeInTheDocument()
  await expect.element(button).toHaveFocus()
})

const asksToClose = () => !window.dispatchEvent(new Event('beforeunload', { cancelable: true }))

/** Keeps the page of the test where it is. @returns whether each load of another page asked first */
function stopLoads(onTestFinished: (work: () => void) => void): boolean[] {
  const asked: boolean[] = []
  const stop = (event: Event) => {
    event.preventDefault()
    asked.push(asksToClose())
  }
  navigation.addEventListener('navigate', stop)
  onTestFinished(() => {
    navigation.removeEventListener('navigate', stop)
    window.dispatchEvent(new Event('pageshow')) // the page stays
  })
  return asked
}

const other = { ...contractExample('readMe'), id: 'usr_other', email: 'other@example.com' }

test('a page with a half-filled form is left without a question once another tab has another user', async ({
  api,
  open,
  onTestFinished,
}) => {
  const { screen } = await open(`${project}/keys`, { hasBack: true })
  await screen.getByRole('button', { name: 'Create key' }).click()
  await screen.getByRole('dialog').getByLabelText('Name', { exact: true }).fill('website')
  expect(asksToClose()).toBe(true)
  const loads = stopLoads(onTestFinished)
  api.answer('readMe', other)
  showTabAgain()
  await expect.poll(() => loads).toEqual([false])
})

test('a page with a half-filled form is left without a question when another user signs in over it', async ({
  api,
  open,
  onTestFinished,
}) => {
  const { screen } = await open(`${project}/keys`, { hasBack: true })
  await screen.getByRole('button', { name: 'Create key' }).click()
  await screen.getByRole('dialog').getByLabelText('Name', { exact: true }).fill('website')
  api.answer('readMe', refuse('session_missing', {}))
  showTabAgain()
  const signIn = screen.getByRole('dialog', { name: 'Your session has ended' })
  await signIn.getByLabelText('Email').fill(other.email)
  await signIn.getByLabelText('Password').fill('correct horse')
  expect(asksToClose()).toBe(true)
  const loads = stopLoads(onTestFinished)
  api.answer('signIn', other)
  await signIn.getByRole('button', { name: 'Sign in' }).click()
  await expect.poll(() => loads).toEqual([false])
})
