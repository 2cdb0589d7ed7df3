import { describe, expect, test } from 'vitest'
import { checkCapabilities } from './check-capabilities.ts'
import { checkTable, type Row, type Suite } from './check-table.ts'
import { readTable } from './read-table.ts'
import { splitSpecification } from './split-specification.ts'
import { titlesIn } from './titles-in.ts'

test('every sentence and every row of the specification has its proof, and every proof is there', () => {
  const { statements, problems } = readTable()
  expect(statements.length).toBeGreaterThan(200)
  expect(problems.map(({ id, what }) => `${id} ${what}`)).toEqual([])
})

describe('the specification', () => {
  test('is taken apart into sentences and rows, numbered within their section', () => {
    const text = `# A title
Before. It ends (there is more, i.e. this).
## 1. One
### 1.1 \`GET /x\`
- A list: one. Two of 1.5 KB; \`three\`. \`four\` is last.
2. Numbered.

| Head | Of it |
|---|---|
| a | b. C |
| d | e |

After.`
    expect(splitSpecification(text).map(({ id, says }) => `${id} ${says}`)).toEqual([
      '0/s1 Before.',
      '0/s2 It ends (there is more, i.e. this).',
      '1.1/s1 A list: one.',
      '1.1/s2 Two of 1.5 KB; `three`.',
      '1.1/s3 `four` is last.',
      '1.1/s4 Numbered.',
      '1.1/r1 | a | b. C |',
      '1.1/r2 | d | e |',
      '1.1/s5 After.',
    ])
  })
})

describe('a test', () => {
  test('is found by its full title, with those around it, and where it is run', () => {
    const source = `
      describe('a group', () => {
        test('one', () => {})
        for (const what of all) liveTest(\`of \${what}\`, async () => {})
        describe.each(rows)('inner', () => test.for([['test(', 1]])('two %s', () => {}))
        test.skip('skipped', () => {})
        expect(test).toBe('none')
      })
      describe.skip('all of it', () => { test('inside', () => {}) })
      const ownTest = liveTest.extend('fixture', () => 1) // test('in a comment')
      ownTest('alone', () => {})`
    expect([...titlesIn('a.test.ts', source)]).toEqual([
      'a group › one',
      'a group › of ${what}',
      'a group › inner › two %s',
      'alone',
    ])
  })
})

describe('what the table lacks is told', () => {
  const suite: Suite = {
    titlesIn: (file) => (file === 'a.test.ts' ? new Set(['one']) : null),
    says: (_file, text) => text === 'a row',
  }
  const says = 'It is so.'
  const lacking = (row: Row | undefined, more: Record<string, Row> = {}) =>
    checkTable([{ id: '1/s1', says }], { ...(row && { '1/s1': row }), ...more }, suite).map(
      ({ id, what }) => `${id} ${what}`,
    )

  test('and what is whole is not', () => {
    expect(
      lacking({
        says,
        provedBy: [
          ['a.test.ts', 'one'],
          ['a.test.ts', 'one', 'a row'],
        ],
      }),
    ).toEqual([])
    expect(lacking({ says, because: 'it is a name' })).toEqual([])
  })

  test.for<[Row | undefined, string]>([
    [undefined, '1/s1 has no row: It is so.'],
    [{ says: 'It was so.', because: 'it is a name' }, '1/s1 says something else in the specification: It is so.'],
    [{ says, provedBy: [] }, '1/s1 names no test'],
    [{ says, because: '' }, '1/s1 gives no reason'],
    [{ says, lacks: 'the other one' }, '1/s1 lacks a test: the other one'],
    [{ says, provedBy: [['b.test.ts', 'one']] }, '1/s1 there is no b.test.ts'],
    [{ says, provedBy: [['a.test.ts', 'on']] }, '1/s1 a.test.ts has no test “on”'],
    [{ says, provedBy: [['a.test.ts', 'one', 'no row']] }, '1/s1 a.test.ts has no row “no row”'],
  ])('%j: %s', ([row, what]) => {
    expect(lacking(row)).toEqual([what])
  })

  test('as is a capability that nothing stands for, or something that is not there', () => {
    const check = (capability: object) =>
      checkCapabilities([{ can: 'this', ...capability }], [{ id: '1/s1', says }], suite).map(({ what }) => what)
    for (const whole of [{ statements: ['1/s1'] }, { statements: ['1'] }, { provedBy: [['a.test.ts', 'one']] }])
      expect(check(whole)).toEqual([])
    expect(check({})).toEqual(['nothing stands for it'])
    expect(check({ statements: ['1/s', '2'] })).toEqual(['the specification has no 1/s', 'the specification has no 2'])
    expect(check({ statements: ['1'], provedBy: [['b.test.ts', 'one']] })).toEqual(['there is no b.test.ts'])
  })

  test('also a row whose statement is gone', () => {
    const because = 'it is a name'
    expect(lacking({ says, because }, { '1/s2': { says, because } })).toEqual([
      '1/s2 the specification has no such statement',
    ])
  })
})
