import { expect, test } from 'vitest'
import { allVariants } from './refusals-page.ts'

test('a fact is said by its name', () => {
  expect(allVariants((f) => `at most ${(f as { limit: number }).limit} bytes`)).toEqual(['at most {limit} bytes'])
})

test('facts that are added', () => {
  type Facts = { charged: number; needed: number }
  const says = (f: unknown) => {
    const { charged, needed } = f as Facts
    return `${charged} are charged: send ${charged + needed} or more`
  }
  expect(allVariants(says)).toEqual(['{charged} are charged: send {charged} + {needed} or more'])
})

test('a list and what is in it', () => {
  type Facts = { resources: string[]; fields: { field: string }[] }
  expect(allVariants((f) => (f as Facts).resources.join(', '))).toEqual(['{resources}'])
  expect(allVariants((f) => (f as Facts).fields.map(({ field }) => field).join('; '))).toEqual(['{fields}'])
})

test('each way that depends on whether there is a fact', () => {
  const says = (f: unknown) => {
    const { until, held } = f as { until: string | null; held: number }
    return [until ? `Wait until ${until}` : 'It does not end', ...(held > 0 ? ['or wait for calls'] : [])].join(', ')
  }
  expect(allVariants(says)).toEqual([
    'Wait until {until}, or wait for calls',
    'It does not end, or wait for calls',
    'Wait until {until}',
    'It does not end',
  ])
})

test('no way that writes a missing fact, even as a part of a word', () => {
  expect(allVariants((f) => `at most $0.00${(f as { micro: number }).micro}`)).toEqual(['at most $0.00{micro}'])
})

test('a fact that is asked for only where another one is left out', () => {
  type Facts = { suspended: boolean; active: number | null }
  const says = (f: unknown) =>
    (f as Facts).suspended ? 'suspended' : (f as Facts).active === null ? 'none' : `not ${(f as Facts).active}`
  expect(allVariants(says)).toEqual(['suspended', 'not {active}', 'none'])
})
