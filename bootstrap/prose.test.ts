import { expect, it } from 'vitest'
import { bannedConstructions, bannedIn } from './prose.ts'

const banned = bannedConstructions()

it('reads both tables of patterns from docs/style.md', () => {
  const patterns = banned.map(({ pattern }) => pattern.source)
  expect(patterns).toContain('\\banew\\b')
  expect(patterns).toContain('\\bdearest\\b')
})

it.each(banned)('refuses "$refused"', ({ pattern, refused, write }) => {
  const text = `Plain English.\n// ${refused}\n`
  expect(bannedIn(text)).toContainEqual({ line: 2, found: pattern.exec(refused)?.[0], write })
})

it('accepts a sentence without a banned construction', () => {
  expect(bannedIn('There is no key. The response is no longer valid, and no one waits for it.')).toEqual([])
})
