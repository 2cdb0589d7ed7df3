import { describe, expect, test } from 'vitest'
import { readArguments } from './arguments.ts'

const benches = { quick: { title: 'a quick one', rounds: 3, seconds: 2, profiles: ['ledger'] } }
const sized = { sized: { title: 'a sized one', rounds: 1, seconds: 1, profiles: [], calls: 50_000 } }
const read = (...words: string[]) => readArguments(words, benches)

describe('readArguments', () => {
  test("defaults to the bench's figures", () => {
    expect(read('quick')).toEqual({
      name: 'quick',
      options: { rounds: 3, roundMs: 2_000, keep: false, profile: null, calls: null, before: null },
    })
  })

  test('overrides them by options', () => {
    expect(read('quick', '--rounds', '7', '--seconds', '0.5', '--keep', '--profile', 'ledger')).toEqual({
      name: 'quick',
      options: { rounds: 7, roundMs: 500, keep: true, profile: 'ledger', calls: null, before: null },
    })
  })

  test('prints usage with one bench per entry', () => {
    const more = { ...benches, 'a-long-name': { title: 'a long one', rounds: 1, seconds: 1, profiles: [] } }
    const said = readArguments(['--help'], more)
    expect(said).toMatchObject({
      wrong: false,
      usage: expect.stringContaining(
        [
          '  quick        a quick one',
          '               (3 rounds of 2 s a variant; profiles ledger)',
          '  a-long-name  a long one',
          '               (1 round of 1 s a variant)\n',
        ].join('\n'),
      ) as string,
    })
    expect(readArguments(['a-long-name', '--profile', 'ledger'], more)).toMatchObject({
      usage: expect.stringContaining('a-long-name can profile nothing, not ledger.') as string,
    })
  })

  test.each([
    [[], 'No bench is named.'],
    [['slow'], 'There is no bench called slow.'],
    [['toString'], 'There is no bench called toString.'],
    [['quick', 'slow'], 'Name only one bench'],
    [['quick', '--rounds', '0'], '--rounds must be'],
    [['quick', '--rounds', '1.5'], '--rounds must be'],
    [['quick', '--seconds', ''], '--seconds must be'],
    [['quick', '--seconds', '600'], '--seconds must be'],
    [['quick', '--profile', 'console'], 'quick can profile ledger, not console.'],
    [['quick', '--calls', '5000'], 'quick has no number of calls to choose.'],
    [['quick', '--before', 'other'], 'quick has no other checkout to compare with'],
    [['quick', '--fast'], "Unknown option '--fast'"],
  ])('refuses %j with the correct usage', (words, message) => {
    const answer = read(...words)
    expect(answer).toMatchObject({ wrong: true, usage: expect.stringContaining(message) as string })
    expect(answer).toMatchObject({ usage: expect.stringContaining('  quick ') as string })
  })

  test('takes a number of calls for a bench that has one, up to its own', () => {
    const callsOf = (...words: string[]) => readArguments(['sized', ...words], sized)
    expect(callsOf()).toMatchObject({ options: { calls: 50_000 } })
    expect(callsOf('--calls', '20000')).toMatchObject({ options: { calls: 20_000 } })
    for (const wrong of ['60000', '999', '1000.5', ''])
      expect(callsOf('--calls', wrong)).toMatchObject({
        usage: expect.stringContaining('--calls must be a whole number from 1000 to 50000.') as string,
      })
    expect(callsOf('--help')).toMatchObject({
      usage: expect.stringContaining('(1 round of 1 s a variant; 50,000 calls)') as string,
    })
  })

  test('does not treat --help as an error', () => {
    expect(read('--help')).toMatchObject({ wrong: false })
  })

  test('takes the other checkout of a bench that compares with one', () => {
    const compares = { turns: { ...benches.quick, comparesCheckouts: true as const } }
    expect(readArguments(['turns', '--before', '../old'], compares)).toMatchObject({ options: { before: '../old' } })
    expect(readArguments(['turns'], compares)).toMatchObject({
      wrong: true,
      usage: expect.stringContaining('turns needs another checkout to compare with: --before <folder>.') as string,
    })
  })
})
