import { describe, expect, test } from 'vitest'
import { checkProofs, digestOf, type Proofs } from './check-proofs.ts'
import { readProofs } from './read-proofs.ts'
import { splitSpecification } from './split-specification.ts'
import { tagsIn } from './tags-in.ts'

test('every sentence and row of the specification has a test, and every tag names one', () => {
  const { statements, problems } = readProofs()
  expect(statements.length).toBeGreaterThan(200)
  expect(problems.map(({ id, what }) => `${id} ${what}`)).toEqual([])
})

test('splitSpecification numbers sentences and table rows within their section', () => {
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

test('tagsIn assigns a tag only to the test directly below it, by full title', () => {
  const source = `
      // spec: 1/s1
      describe('a group', () => {
        // Why.
        // spec: 1/s2, 1/r1
        // spec: 1/r2
        test('one', () => {
          // spec: 9/s1
          const text = '// spec: 9/s2'
        })
        // spec: 1/s3
        for (const what of all) liveTest(\`of \${what}\`, async () => {})
        describe.each(rows)('inner', () => test.for([['test(', 1]])('two %s', () => {}))
        // spec: 9/s3
        test.skip('skipped', () => {})
        // spec: 9/s4

        test('last', () => expect(test).toBe('none'))
      })
      // spec: 9/s5
      describe.skip('all of it', () => { test('inside', () => {}) })
      // spec: 9/s6
      const ownTest = liveTest.extend('fixture', () => 1) // test('in a comment')
      ownTest('alone', () => {})
      // spec: 9/s7`
  const { tests, lost } = tagsIn('a.test.ts', source)
  expect(tests.map(({ title, proves }) => `${title}: ${proves.join(' ')}`)).toEqual([
    'a group › one: 1/s1 1/s2 1/r1 1/r2',
    'a group › of ${what}: 1/s1 1/s3',
    'a group › inner › two %s: 1/s1',
    'a group › last: 1/s1',
    'alone: ',
  ])
  expect(lost).toEqual(['9/s1', '9/s3', '9/s4', '9/s5', '9/s6', '9/s7'])
})

describe('checkProofs', () => {
  const statement = { id: '1/s1', says: 'It is so.' }
  const wrong = (proofs: Partial<Proofs>) =>
    checkProofs([statement], {
      tests: [],
      lost: [],
      nothingToProve: {},
      digests: { '1/s1': digestOf(statement) },
      ...proofs,
    }).map(({ id, what }) => `${id} ${what}`)
  const tests = [{ file: 'a.test.ts', title: 'one', proves: ['1/s1'] }]
  const nothingToProve = { '1/s1': 'it is a name' }

  test('reports nothing for a proved or exempt statement', () => {
    expect(wrong({ tests })).toEqual([])
    expect(wrong({ nothingToProve })).toEqual([])
  })

  test.for<[string, Partial<Proofs>]>([
    ['1/s1 has no test: It is so.', {}],
    ['1/s1 has no test: It is so.', { nothingToProve: { '1/s1': '' } }],
    ['1/s1 has a test but is listed in nothing-to-prove.ts', { tests, nothingToProve }],
    [
      '1/s1 has changed; review its tests, then run npm run spec -- --accept: It is so.',
      { tests, digests: { '1/s1': digestOf({ ...statement, says: 'It was so.' }) } },
    ],
    [
      '2/s1 is not a statement but is named in a.test.ts above “one”',
      { tests: [{ ...tests[0]!, proves: ['1/s1', '2/s1'] }] },
    ],
    [
      '2/s1 is not a statement but is named in nothing-to-prove.ts',
      { tests, nothingToProve: { '2/s1': 'it is a name' } },
    ],
    ['1/s1 is tagged in a.test.ts above no test that runs', { tests, lost: [{ file: 'a.test.ts', id: '1/s1' }] }],
  ])('reports that %s', ([what, proofs]) => {
    expect(wrong(proofs)).toEqual([what])
  })

  test('reports the former number of a moved sentence', () => {
    expect(wrong({ tests, digests: { '1/s1': '', '1/s2': digestOf(statement) } })).toEqual([
      '1/s1 was 1/s2; review its tests, then run npm run spec -- --accept: It is so.',
      '1/s2 is not a statement but is named in digests.txt (npm run spec -- --accept)',
    ])
  })
})
