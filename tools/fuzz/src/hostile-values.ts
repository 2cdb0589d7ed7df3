import type { Json } from '@gateway/testbed/example-request'
import type { Chance } from './chance.ts'

// Values at and beyond the limits of what a field accepts.

/** A number of the JSON text that JavaScript cannot represent. `jsonText` writes it without quotes. */
const LITERAL = /"@literal:([-+.0-9eE]+)@"/g
const literal = (digits: string) => `@literal:${digits}@`

/** JSON text of a value, with its literals. */
export function jsonText(value: unknown): string {
  return (JSON.stringify(value) ?? '').replaceAll(LITERAL, '$1')
}

const NUMBERS = [
  0,
  -0.0,
  -1,
  1,
  0.5,
  1e-9,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 32,
  2 ** 53 - 1,
  2 ** 53,
  -(2 ** 53),
  2 ** 63,
  2 ** 64,
  1e21,
  1e308,
  -1e308,
  5e-324,
  literal('1e400'),
  literal('-1e400'),
  literal('9'.repeat(400)),
  literal(`0.${'3'.repeat(400)}`),
  literal('9223372036854775807'),
  literal('-9223372036854775809'),
]

const TEXTS = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  'a\udfffb',
  '\u202eevil\u202d',
  'שלום עולם',
  'e\u0301'.repeat(60),
  '👩‍👩‍👧‍👦'.repeat(20),
  '\ufeffx',
  '\u2028\u2029',
  'ﷺ'.repeat(100),
  'İ'.repeat(50),
  'null',
  'true',
  '-1',
  '0',
  '1e999',
  'NaN',
  '9'.repeat(400),
  '../../etc/passwd',
  '%00',
  '%',
  "' OR 1=1 --",
  '"; DROP TABLE money.wallets; --',
  '{{ topic }}',
  '{{',
  '${7*7}',
  '<script>alert(1)</script>',
  '=1+1',
  '\\',
  '"',
  'a\r\nb: c',
  '__proto__',
  'constructor',
  'prj_00000000000000000000000000',
  'sbx-00000000000000000000000000',
  '2026-02-30T25:61:61Z',
  '0000-01-01T00:00:00Z',
  '+275760-09-13T00:00:00.001Z',
  '2026-11',
  '2026-13',
  'Europe/Nowhere',
  'data:image/png;base64,AAAA',
  'data:image/png;base64,',
  'asset:ast_00000000000000000000000000',
  'http://127.0.0.1:9/',
  'file:///etc/passwd',
  'javascript:alert(1)',
]

/** Any hostile value, for a field of any type. */
export function hostileValue(chance: Chance): unknown {
  switch (chance.below(12)) {
    case 0:
      return null
    case 1:
      return chance.hits(0.5)
    case 2:
      return chance.pick<unknown>([
        [],
        {},
        [[]],
        [null],
        [{}],
        { a: null },
        { '': 1 },
        { constructor: null, length: -1 },
      ])
    case 3:
      return nested(chance.pick([3, 40, 200, 3_000]), chance.hits(0.5))
    case 4:
      return longText(chance)
    case 5:
    case 6:
    case 7:
      return chance.pick(NUMBERS)
    case 8:
      return Object.fromEntries([
        ['__proto__', { x: 1 }],
        ['toString', 1],
        [chance.pick(TEXTS), chance.pick(TEXTS)],
      ])
    default:
      return chance.pick(TEXTS)
  }
}

export const hostileText = (chance: Chance): string => (chance.hits(0.1) ? longText(chance) : chance.pick(TEXTS))

/** Around usual limits: names, keys, headers; rarely around the limits of bodies. */
function longText(chance: Chance): string {
  const lengths = [63, 64, 65, 100, 101, 128, 129, 255, 256, 257, 500, 1_000, 1_001, 4_096, 8_193]
  const length = chance.hits(0.05) ? chance.pick([65_537, 128_001, 300_000]) : chance.pick(lengths)
  return chance.pick(['x', 'é', '💩', ' ', '"', '\u0001']).repeat(length)
}

/** Arrays or objects in each other. */
function nested(depth: number, arrays: boolean): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = arrays ? [value] : { a: value }
  return value
}

/** Values at both sides of the limits of a schema. Empty if it has none. */
export function boundaries({ minimum, maximum, exclusiveMinimum, minLength, maxLength, minItems, maxItems }: Json) {
  const numbers = [minimum, maximum, exclusiveMinimum].filter((limit) => typeof limit === 'number')
  const lengths = [minLength, maxLength].filter((limit) => typeof limit === 'number' && limit < 200_000) as number[]
  const sizes = [minItems, maxItems].filter((limit) => typeof limit === 'number' && limit < 5_000) as number[]
  return [
    ...numbers.flatMap((limit) => [limit - 1, limit, limit + 1, limit + 0.5]),
    ...lengths.flatMap((limit) =>
      [limit - 1, limit, limit + 1].flatMap((length) => ['x', '💩'].map((unit) => unit.repeat(Math.max(0, length)))),
    ),
    ...sizes.flatMap((limit) => [limit - 1, limit, limit + 1].map((size) => Array(Math.max(0, size)).fill('x'))),
  ]
}
