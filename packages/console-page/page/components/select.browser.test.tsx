import { expect, test } from 'vitest'
import { render } from 'vitest-browser-react'
import { SelectField } from './select.tsx'

test('an empty choice shows its text', async () => {
  const options = [
    ['', 'None'],
    ['a', 'First'],
  ] as const
  const screen = await render(<SelectField label="Compare with" value="" options={options} onChange={() => {}} />)
  await expect.element(screen.getByRole('combobox', { name: 'Compare with' })).toHaveTextContent('None')
})
