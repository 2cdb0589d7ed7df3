import { expect } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { pageTest as test, project } from '../page-test.fixture.tsx'
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
