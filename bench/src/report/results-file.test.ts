import { describe, expect, test } from 'vitest'
import { withSection } from './results-file.ts'

describe('the results', () => {
  const text = '# Measured\n\nIntro.\n\n## one\n\nold\n\n## one-more\n\nkept\n'

  test('a section takes the place of the one before and leaves the others', () => {
    expect(withSection(text, 'one', 'new')).toBe('# Measured\n\nIntro.\n\n## one\n\nnew\n\n## one-more\n\nkept\n')
  })

  test('a new section goes to the end', () => {
    expect(withSection(text, 'two', 'first\n')).toBe(`${text}\n## two\n\nfirst\n`)
  })

  test('writing the same again changes nothing', () => {
    const once = withSection(text, 'two', 'first')
    expect(withSection(once, 'two', 'first')).toBe(once)
  })
})
