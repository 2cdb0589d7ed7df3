import { expect } from 'vitest'
import { userEvent } from 'vitest/browser'
import { pageTest as test, project } from '../page-test.fixture.tsx'

test('Enter that ends an input method does not run a command', async ({ open }) => {
  const { screen, address } = await open(`${project}/keys`)
  await userEvent.keyboard('{Control>}k{/Control}')
  const field = screen.getByRole('combobox', { name: 'Search and commands' })
  await field.fill('Usage')
  await expect.element(screen.getByRole('option', { name: /Usage/ }).first()).toBeVisible()
  // Safari ends the composition first.
  for (const composing of [{ isComposing: true }, { keyCode: 229 }]) {
    const composed = new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true, ...composing })
    field.element().dispatchEvent(composed)
    expect(composed.defaultPrevented).toBe(false)
  }
  await expect.element(field).toHaveValue('Usage')
  await userEvent.keyboard('{Enter}')
  await expect.poll(() => address().pathname).toBe(`${project}/usage`)
})
