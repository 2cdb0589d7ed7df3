import { describe, expect, test } from 'vitest'
import { withSection } from './results-file.ts'

describe('withSection', () => {
  const text = '# Measured\n\nIntro.\n\n## one\n\nold\n\n## one-more\n\nkept\n'

  test('replaces an existing section and leaves the others unchanged', () => {
    expect(withSection(text, 'one', 'new')).toBe('# Measured\n\nIntro.\n\n## one\n\nnew\n\n## one-more\n\nkept\n')
  })

  test('appends a new section', () => {
    expect(withSection(text, 'two', 'first\n')).toBe(`${text}\n## two\n\nfirst\n`)
  })

  test('changes nothing if the section is identical', () => {
    const once = withSection(text, 'two', 'first')
    expect(withSection(once, 'two', 'first')).toBe(once)
  })
})
