import { expect, test } from 'vitest'
import { draftOver, type Draft } from './draft.ts'

const shown = ({ typed, kept }: Draft) => typed ?? kept

test('a field in which nothing was typed follows what is kept', () => {
  expect(shown(draftOver({ typed: null, kept: '30' }, '90'))).toBe('90')
})

test('what was typed before the last change was read stays', () => {
  expect(shown(draftOver({ typed: '', kept: '30' }, '90'))).toBe('')
  expect(shown(draftOver({ typed: '30', kept: '30' }, '90'))).toBe('30')
})

test('a field follows what is kept again once what was typed is saved', () => {
  const saved = draftOver({ typed: '90', kept: '30' }, '90')
  expect(shown(saved)).toBe('90')
  expect(shown(draftOver(saved, '60'))).toBe('60')
})

test('reading the same again changes nothing', () => {
  const draft = { typed: '45', kept: '30' }
  expect(draftOver(draft, '30')).toBe(draft)
})
