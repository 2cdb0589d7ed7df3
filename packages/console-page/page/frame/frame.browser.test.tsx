import { expect } from 'vitest'
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
