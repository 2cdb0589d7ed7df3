import { expect, test } from 'vitest'
import { draftOver, type Draft } from './draft.ts'

const shown = ({ typed, kept }: Draft) => typed ?? kept

test('an untouched field shows the new saved value', () => {
  expect(shown(draftOver({ typed: null, kept: '30' }, '90'))).toBe('90')
})

test('typed text survives a new saved value', () => {
  expect(shown(draftOver({ typed: '', kept: '30' }, '90'))).toBe('')
})

test('a field follows the saved value again once the typed text is saved', () => {
  const saved = draftOver({ typed: '90', kept: '30' }, '90')
  expect(shown(saved)).toBe('90')
  expect(shown(draftOver(saved, '60'))).toBe('60')
})
