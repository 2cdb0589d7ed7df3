import { expect } from 'vitest'
import { cdp, page, userEvent } from 'vitest/browser'
import { exampleIds } from '@gateway/api/example-ids'
import { CodeChoice } from '../components/secret-dialog.tsx'
import { pageTest as base, project } from '../page-test.fixture.tsx'

// A contrast theme replaces backgrounds, so an outline shows the current item.

const test = base.extend('outlines', async ({ show: _ }, { onCleanup }) => {
  const session = cdp() as { send(method: string, params: object): Promise<void> }
  const emulate = (value: string) =>
    session.send('Emulation.setEmulatedMedia', { features: [{ name: 'forced-colors', value }] })
  onCleanup(() => emulate('none'))
  await emulate('active')
  /** Waits until each current item, and there is one, has an outline. */
  return (selector: string) =>
    expect
      .poll(() => {
        const items = [...document.querySelectorAll(selector)]
        return new Set(items.map((item) => [selector, getComputedStyle(item).outlineStyle].join()))
      })
      .toEqual(new Set([`${selector},solid`]))
})

test('a contrast theme outlines the current item of a menu, a select and the palette', async ({ outlines, open }) => {
  expect(matchMedia('(forced-colors: active)').matches).toBe(true)
  const { screen } = await open(`${project}/calls`)
  await screen.getByRole('button', { name: /^Live: off/ }).click()
  await screen.getByRole('heading', { level: 1 }).click()
  await outlines('.button[aria-pressed="true"]')
  const theme = screen.getByRole('button', { name: 'Theme' })
  await expect.element(theme).toBeEnabled()
  theme.element().focus()
  await userEvent.keyboard('{Enter}')
  await outlines('.popup [role^="menuitem"][data-highlighted]')
  await userEvent.keyboard('{Escape}')
  screen.getByRole('combobox', { name: 'State' }).element().focus()
  await userEvent.keyboard('{Enter}{ArrowDown}')
  await outlines('.popup [role="option"][data-highlighted]')
  await userEvent.keyboard('{Escape}{Control>}k{/Control}')
  await expect.element(page.getByRole('combobox', { name: 'Search and commands' })).toBeVisible()
  await userEvent.keyboard('{ArrowDown}')
  await outlines('.dialog [role="option"][aria-selected="true"]')
})

test('a contrast theme outlines the current item of the menus of the editor', async ({ outlines, open }) => {
  const { screen } = await open(`${project}/flows/${exampleIds.sandbox}`)
  await screen.getByRole('button', { name: 'More actions' }).click()
  await userEvent.keyboard('{ArrowDown}')
  await outlines('.flow-menu [data-highlighted]')
  await userEvent.keyboard('{Escape}')
  screen
    .getByRole('group', { name: /^Chat draft/ })
    .element()
    .focus()
  await userEvent.keyboard('{Shift>}{F10}{/Shift}{ArrowDown}')
  await outlines('.canvas-menu [data-highlighted]')
})

test('a contrast theme outlines the current link of the rail and the current tab', async ({ outlines, open, show }) => {
  const { screen } = await open(`${project}/usage`)
  await expect.element(screen.getByRole('heading', { name: 'Usage', level: 1 })).toBeVisible()
  await outlines('.rail [aria-current="page"]')
  await show(<CodeChoice title="Code" label="Language" copy="Copy" of={{ curl: 'curl', Python: 'import' }} />)
  await outlines('[role="tab"][aria-selected="true"]')
  expect(getComputedStyle(page.getByRole('tab', { name: 'Python' }).element()).outlineStyle).toBe('none')
})
