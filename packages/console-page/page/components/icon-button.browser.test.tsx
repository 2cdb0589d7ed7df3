import { expect, test } from 'vitest'
import { render } from 'vitest-browser-react'
import { IconButton } from './icon-button.tsx'

test('a disabled button with an icon cannot be pressed', async () => {
  const screen = await render(<IconButton icon="account" label="Account" disabled />)
  await expect.element(screen.getByRole('button', { name: 'Account' })).toBeDisabled()
})
