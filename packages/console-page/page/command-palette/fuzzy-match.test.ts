import { expect, test } from 'vitest'
import { fuzzyFound } from './fuzzy-match.ts'

const items = ['Statement', 'Create a key', 'Create flow', 'Keys', 'Website key'].map((title) => ({ title }))
const found = (sought: string) => fuzzyFound(items, sought).map(({ title }) => title)

test('an empty search returns all items in their original order', () => {
  expect(found('  ')).toEqual(items.map(({ title }) => title))
})

test('titles whose words start with the letters come first, and titles without all letters are dropped', () => {
  expect(found('cak')).toEqual(['Create a key'])
  expect(found('key')[0]).toBe('Keys')
  expect(found('cf')).toEqual(['Create flow'])
  expect(found('zzz')).toEqual([])
})

test('the search ignores case and extra spaces', () => {
  expect(found('CREATE  FLOW')).toEqual(['Create flow'])
})
