import { expect, test } from 'vitest'
import { readCommand } from './read-command.ts'

const read = (...words: string[]) => readCommand(words)
const anchor = `12:${'ab'.repeat(32)}`
const plain = { verb: 'check', whole: false, against: null, archive: null, projects: [] }

test('a check covers all wallets unless projects are named', () => {
  expect(read('check')).toEqual(plain)
  expect(read('check', 'prj_1', '--whole', 'prj_2')).toEqual({ ...plain, whole: true, projects: ['prj_1', 'prj_2'] })
})

test('a check against an anchor or with an archive reads the whole journal', () => {
  expect(read('check', '--against', anchor)).toEqual({ ...plain, whole: true, against: anchor })
  expect(read('check', '--archive', '/keep')).toEqual({ ...plain, whole: true, archive: '/keep' })
})

test('archives all due months unless a month is named', () => {
  expect(read('archive')).toEqual({ verb: 'archive', before: null, to: null, dry: false })
  expect(read('archive', '--dry', '--before', '2026-08', '--to', '/keep')).toEqual({
    verb: 'archive',
    before: '2026-08',
    to: '/keep',
    dry: true,
  })
})

test.each([
  [['check', '--wohle'], 'Unknown option --wohle.\n'],
  [['check', '--against'], 'Nothing is not an anchor.\n'],
  [['check', '--against', 'prj_1'], 'prj_1 is not an anchor.\n'],
  [['check', '--against', `12:${'AB'.repeat(32)}`], `12:${'AB'.repeat(32)} is not an anchor.\n`],
  [['check', '--archive'], '--archive needs a folder.\n'],
  [['archive', '--before', '2026-13'], '2026-13 is not a month. Write it like 2026-08.\n'],
  [['archive', '--before'], 'Nothing is not a month. Write it like 2026-08.\n'],
  [['archive', '--to'], '--to needs a folder.\n'],
  [['archive', 'prj_1'], 'Unknown option prj_1.\n'],
  [['chek'], ''],
  [[], ''],
])('rejects %j', (words, wrong) => {
  expect(read(...words)).toEqual({ wrong })
})
