import { expect, test } from 'vitest'
import { isAnchor } from './check/anchor.ts'
import { readCommand } from './read-command.ts'

const read = (...words: string[]) => readCommand(words, isAnchor)
const anchor = `12:${'ab'.repeat(32)}`

test('a check is of all wallets unless some are named', () => {
  expect(read('check')).toEqual({ whole: false, against: null, projects: [] })
  expect(read('check', 'prj_1', '--whole', 'prj_2')).toEqual({
    whole: true,
    against: null,
    projects: ['prj_1', 'prj_2'],
  })
})

test('a check against an anchor is whole', () => {
  expect(read('check', '--against', anchor)).toEqual({ whole: true, against: anchor, projects: [] })
})

test.each([
  [['check', '--wohle'], "I don't know --wohle.\n"],
  [['check', '--against'], 'Nothing is no anchor.\n'],
  [['check', '--against', 'prj_1'], 'prj_1 is no anchor.\n'],
  [['check', '--against', `12:${'AB'.repeat(32)}`], `12:${'AB'.repeat(32)} is no anchor.\n`],
  [['chek'], ''],
  [[], ''],
])('%j is told what is wrong', (words, wrong) => {
  expect(read(...words)).toEqual({ wrong })
})
