import { expect, test } from 'vitest'
import { fuzzyFound } from './fuzzy-match.ts'

const items = ['Statement', 'Create a key', 'Create flow', 'Keys', 'Website key'].map((title) => ({ title }))
const found = (sought: string) => fuzzyFound(items, sought).map(({ title }) => title)

test('all are found where nothing is sought, as they stand', () => {
  expect(found('  ')).toEqual(items.map(({ title }) => title))
})

test('letters that begin words come first, and those that are missing are not found', () => {
  expect(found('cak')).toEqual(['Create a key'])
  expect(found('key')[0]).toBe('Keys')
  expect(found('cf')).toEqual(['Create flow'])
  expect(found('zzz')).toEqual([])
})

test('it does not matter how it is written, or with which spaces', () => {
  expect(found('CREATE  FLOW')).toEqual(['Create flow'])
})
