import { Environment } from '@marcbachmann/cel-js'
import fc from 'fast-check'
import { describe, expect, test, inject } from 'vitest'
import { Budget, CelExhausted, CelFailure, celLimits, celSteps, readExpression, type CelType } from './cel.ts'

function read(source: string) {
  const outcome = readExpression(source)
  if ('problem' in outcome) throw new Error(`${source} ${outcome.problem}`)
  return outcome.expression
}
const evaluate = (source: string, values: Record<string, unknown> = {}, steps = celSteps) =>
  read(source).evaluate(values, new Budget(steps))
const problemOf = (source: string) => {
  const outcome = readExpression(source)
  return 'problem' in outcome ? outcome.problem : null
}
const typeOf = (source: string, types: Record<string, CelType> = {}) =>
  read(source).typeOf(new Map(Object.entries(types)))

describe('an expression evaluates', () => {
  test.each<[string, Record<string, unknown>, unknown]>([
    ['size(text) > 400', { text: 'x'.repeat(401) }, true],
    ['n * 2', { n: 1.5 }, 3],
    ['7 / 2', {}, 3.5],
    ['-7 % 3', {}, -1],
    ['size("aäb😀")', {}, 4],
    ['"a😀b".substring(1, 2)', {}, '😀'],
    ['"abc".substring(1)', {}, 'bc'],
    ['"a😀b".indexOf("b")', {}, 2],
    ['"abab".lastIndexOf("b")', {}, 3],
    ['"abc".indexOf("x")', {}, -1],
    ['"a,b,c".split(",")', {}, ['a', 'b', 'c']],
    ['"a,b,c".split(",", 2)', {}, ['a', 'b,c']],
    ['"ab".split("")', {}, ['a', 'b']],
    ['["a", "b"].join("-")', {}, 'a-b'],
    ['"banana".replace("an", "")', {}, 'ba'],
    ['" x ".trim() + "y".upperAscii() + "ÄZ".lowerAscii()', {}, 'xYÄz'],
    ['"abc".contains("b") && "abc".startsWith("a") && "abc".endsWith("c")', {}, true],
    ['string(1) + string(0.5) + string(true) + string("x")', {}, '10.5truex'],
    ['double("1e3") + int(2.9) + int("-2.9")', {}, 1000],
    ['bool("true")', {}, true],
    ['o.a.b[1]', { o: { a: { b: [1, 2] } } }, 2],
    ['o["a"]', { o: { a: null } }, null],
    ['has(o.a) && !has(o.b)', { o: { a: 1 } }, true],
    ['tone == null ? "plain" : tone', {}, 'plain'],
    ['1 in [1, 2] && "a" in {"a": 1} && !("b" in o)', { o: {} }, true],
    ['[1, 2, 3].map(x, x * 2)', {}, [2, 4, 6]],
    ['[1, 2, 3].map(x, x > 1, x * 2)', {}, [4, 6]],
    ['[1, 2, 3].filter(x, x > 1).map(y, string(y)).join()', {}, '23'],
    ['[1, 2].all(x, x > 0) && [1, 2].exists(x, x > 1) && [1, 2].exists_one(x, x > 1)', {}, true],
    ['o.map(key, key)', { o: { a: 1, b: 2 } }, ['a', 'b']],
    ['{"a": [1, {"b": 2}]} == {"a": [1, {"b": 2}]}', {}, true],
    ['[1] + [2]', {}, [1, 2]],
    ['"a" < "b" && 1 <= 1 && 2 >= 1 && !(1 > 2)', {}, true],
    ['false && o.x == 1 || true', { o: {} }, true],
    ['o.x == 1 || true', { o: {} }, true],
    ['[1, 0].exists(x, 1 / x == 1)', {}, true],
    ['-n + - 1', { n: 1 }, -2],
    ['\'it\' + r"\\n" + """x"""', {}, 'it\\nx'],
    ['{"__proto__": 1}["__proto__"]', {}, 1],
  ])('%s', (source, values, expected) => {
    const value: unknown = JSON.parse(JSON.stringify(evaluate(source, values)))
    expect(value).toEqual(expected)
  })

  test.each<[string, Record<string, unknown>]>([
    ['o.x', { o: {} }],
    ['o.constructor', { o: {} }],
    ['o["__proto__"]', { o: {} }],
    ['text.length', { text: 'x' }],
    ['l.length', { l: [] }],
    ['l[0]', { l: [] }],
    ['l[0.5]', { l: [1] }],
    ['l["0"]', { l: [1] }],
    ['1 / n', { n: 0 }],
    ['1 % n', { n: 0 }],
    ['1e308 * n', { n: 10 }],
    ['a + b', { a: 1, b: 'x' }],
    ['a < b', { a: 1, b: null }],
    ['size(a)', { a: null }],
    ['a && true', { a: 1 }],
    ['!a', { a: null }],
    ['-a', { a: 'x' }],
    ['a ? 1 : 2', { a: 'true' }],
    ['l.map(x, x.y)', { l: [1] }],
    ['a.map(x, x)', { a: 'text' }],
    ['double(a)', { a: 'Infinity' }],
    ['double(a)', { a: '0x10' }],
    ['bool(a)', { a: 'yes' }],
    ['a.substring(2)', { a: 'x' }],
    ['l.join()', { l: [1] }],
    ['{a: 1}', { a: 1 }],
    ['{"a": 1, "a": 2}', {}],
  ])('%s to a failure', (source, values) => {
    expect(() => evaluate(source, values)).toThrow(CelFailure)
  })
})

describe('rejects as an expression', () => {
  test.each([
    '',
    'a +',
    'a b',
    'a.matches("x")',
    'cel.bind(x, 1, x)',
    'timestamp("2024-01-01T00:00:00Z")',
    'duration("1s")',
    'b"bytes"',
    '1u',
    '1e999',
    'a.constructor()',
    'constructor(a)',
    'a.toString()',
    'eval("1")',
    'a.?b',
    'has(a)',
    'size()',
    'size(a, b)',
    'a.map(1, x)',
    'a.all(x, b.all(y, y > x))',
    'a.map(x, b.filter(y, y).size())',
    'a.map(x, x.map(y, z))',
    '__proto__',
    'a = 1',
    'a; b',
    'x => x',
    '`a`',
    'new a()',
  ])('%s', (source) => {
    expect(problemOf(source)).not.toBeNull()
  })
})

test('rejects an expression of more than 2 KB, 200 nodes or depth 16', () => {
  const text = (bytes: number) => `"${'ä'.repeat((bytes - 2) / 2)}"`
  expect(problemOf(text(celLimits.sourceBytes))).toBeNull()
  expect(problemOf(text(celLimits.sourceBytes + 2))).toContain('2048')
  // A sum of n names has 2n - 1 nodes; a leading minus adds one.
  const sum = (names: number) => Array.from({ length: names }, () => 'a').join('+')
  expect(problemOf(`-${sum(100)}`)).toBeNull()
  expect(problemOf(sum(101))).toContain('200')
  const nested = (depth: number) => `${'('.repeat(depth - 1)}a${')'.repeat(depth - 1)}`
  expect(problemOf(nested(celLimits.depth))).toBeNull()
  expect(problemOf(nested(celLimits.depth + 1))).toContain('16')
})

test('the names of an expression are its free variables, without those of macros', () => {
  expect(read('l.filter(x, x > limit).map(y, y + x) == other && l == x').names).toEqual(['l', 'limit', 'x', 'other'])
  expect(read('constructor + toString').names).toEqual(['constructor', 'toString'])
  expect(evaluate('constructor', {})).toBeNull()
  expect(evaluate('l.map(x, x + y)[0] + x', { l: [1], x: 10, y: 100 })).toBe(111)
})

test('checks types as far as they are known', () => {
  expect(typeOf('size(text) > 400', { text: 'string' })).toEqual({ type: 'boolean' })
  expect(typeOf('n * 2', { n: 'number' })).toEqual({ type: 'number' })
  expect(typeOf('text + "x"', { text: 'string' })).toEqual({ type: 'string' })
  expect(typeOf('a + "x"')).toEqual({ type: 'string' })
  expect(typeOf('a + b')).toEqual({ type: 'dyn' })
  expect(typeOf('o.x', { o: 'object' })).toEqual({ type: 'dyn' })
  expect(typeOf('string(o.x)', { o: 'object' })).toEqual({ type: 'string' })
  expect(typeOf('tone == null ? "plain" : tone', { tone: 'string' })).toEqual({ type: 'string' })
  expect(typeOf('a ? 1 : "x"')).toEqual({ type: 'dyn' })
  expect(typeOf('{"a": 1}')).toEqual({ type: 'object' })
  expect(typeOf('l.map(x, x)')).toEqual({ type: 'list' })
  expect(typeOf('o.all(k, k.startsWith("a"))', { o: 'object' })).toEqual({ type: 'boolean' })
  for (const wrong of [
    'text * 2',
    'text + n',
    'n.x',
    'text[0]',
    'has(text.x)',
    '!text',
    '-text',
    'text && true',
    'n ? 1 : 2',
    'text < n',
    'text == n',
    'n in text',
    'n in o',
    'size(n)',
    'n.contains("x")',
    'text.contains(n)',
    'text.map(x, x)',
    'o.all(k, k + 1 == 2)',
    'o.map(k, 1, k)',
    'o.filter(k, size(k))',
    '{1: 2}',
    '[1]["x"]',
    '[n + text]',
    '{"a": n + text}',
    'string(o)',
  ])
    expect([wrong, ...Object.keys(typeOf(wrong, { text: 'string', n: 'number', o: 'object' }))]).toEqual([
      wrong,
      'problem',
    ])
})

describe('the step budget of an evaluation', () => {
  const zeros = Array.from({ length: 32_000 }, () => 0)
  const long = 'a'.repeat(64_000)
  const values = { l: zeros, s: long, t: `${'a'.repeat(500)}b${'a'.repeat(31_000)}`, o: { a: zeros } }

  test.each([
    'l.exists(x, x + 1 in l)',
    'l.map(x, l + l + l)',
    'l.map(x, s + s + s + s)',
    'l.all(x, s == s + "")',
    'l.all(x, !s.contains(t))',
    '!s.contains(t) || s.contains(t)',
    'l.map(x, s.split(""))',
    's.replace("a", s)',
    'l.map(x, s).join(s)',
    'l.all(x, l == l + [])',
    'l.map(x, size(s.upperAscii()))',
    'l.exists(x, s.lastIndexOf(t) == 1)',
    'l.all(x, [l, l, l] == [l, l + [], l])',
    'l.map(x, s.substring(0, size(s)))',
    'l.map(x, [l][0] + [x])',
    'l.map(x, s.trim() < s)',
  ])('stops %s', (source) => {
    expect(() => evaluate(source, values)).toThrow(CelExhausted)
  })

  test('raises an error that no operator of the expression can absorb', () => {
    expect(() => evaluate('l.exists(x, x + 1 in l) || true', values, 1000)).toThrow(CelExhausted)
    expect(() => evaluate('true || l.exists(x, x + 1 in l)', values, 1000)).not.toThrow()
    expect(() => evaluate('l.exists(x, x + 1 in l)', values, 100_000)).toThrow(CelExhausted)
  })

  test('is large enough for ordinary work on 64 KB', () => {
    expect(evaluate('l.map(x, x + 1).filter(x, x > 0).size()', values)).toBe(32_000)
    expect(
      evaluate('s.split("a").join("b").contains("bbbbbbbbbb") && s.replace("a", "b").size() == size(s)', values),
    ).toBe(true)
  })
})

test('any text is a problem, a value or a failure, and never reaches a prototype', () => {
  const leaf = fc.constantFrom(
    'a',
    'o',
    'l',
    's',
    '1',
    '"x"',
    'null',
    'true',
    '__proto__',
    'constructor',
    'prototype',
    '[]',
    '{}',
    '"__proto__"',
    '"constructor"',
  )
  const { tree } = fc.letrec<{ tree: string }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 5, depthSize: 'small' },
      leaf,
      fc
        .tuple(tie('tree'), fc.constantFrom('+', '-', '*', '/', '%', '==', '!=', '<', 'in', '&&', '||'), tie('tree'))
        .map((parts) => `(${parts.join(' ')})`),
      fc
        .tuple(tie('tree'), fc.constantFrom('__proto__', 'constructor', 'prototype', 'x', 'length', 'toString'))
        .map(([of, key]) => `${of}.${key}`),
      fc.tuple(tie('tree'), tie('tree')).map(([of, at]) => `${of}[${at}]`),
      fc
        .tuple(
          tie('tree'),
          fc.constantFrom('map', 'all', 'filter', 'exists', 'constructor', 'size', 'split', 'join', 'call', 'bind'),
          tie('tree'),
        )
        .map(([of, name, arg]) => `${of}.${name}(x, ${arg})`),
      fc
        .tuple(fc.constantFrom('size', 'string', 'has', 'constructor', 'Function', 'double'), tie('tree'))
        .map(([name, arg]) => `${name}(${arg})`),
      fc.tuple(tie('tree'), tie('tree'), tie('tree')).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
    ),
  }))
  const values = { a: 1, o: { x: { y: 'z' } }, l: [1, 'x', null, {}], s: 'text' }
  const forbidden = new Set<unknown>([
    Object.prototype,
    Array.prototype,
    String.prototype,
    Object,
    Function,
    Array,
    String,
  ])
  fc.assert(
    fc.property(
      fc.oneof(
        tree,
        fc.string({ maxLength: 60 }),
        fc.string({ unit: fc.constantFrom(...Array.from('a.()[]{}"\'+-&|?:x1, \\{}')) }),
      ),
      (source) => {
        const outcome = readExpression(source)
        if ('problem' in outcome) return
        outcome.expression.typeOf(new Map([['a', 'number']]))
        const budget = new Budget(20_000)
        try {
          const value: unknown = outcome.expression.evaluate(values, budget)
          expect(typeof value).not.toBe('function')
          expect(forbidden.has(value)).toBe(false)
          JSON.stringify(value)
        } catch (error) {
          if (!(error instanceof CelFailure)) throw error
        }
        expect(JSON.stringify(values)).toBe('{"a":1,"o":{"x":{"y":"z"}},"l":[1,"x",null,{}],"s":"text"}')
      },
    ),
    { numRuns: 20_000 * inject('propertyShare') },
  )
})

// spec: can/graphs
test('evaluates to the same values as another CEL implementation', () => {
  const peer = new Environment({ unlistedVariablesAreDyn: true, homogeneousAggregateLiterals: false })
  const number = fc.constantFrom('1.0', '2.5', 'n', '0.5')
  const text = fc.constantFrom('"a"', '"ab"', 's', '""')
  const { any, bool } = fc.letrec<{ any: string; num: string; str: string; bool: string; list: string }>((tie) => ({
    num: fc.oneof(
      { maxDepth: 4 },
      number,
      fc.tuple(tie('num'), fc.constantFrom('+', '-', '*'), tie('num')).map((p) => `(${p.join(' ')})`),
      tie('num').map((n) => `(-${n})`),
    ),
    str: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.tuple(tie('str'), tie('str')).map(([a, b]) => `(${a} + ${b})`),
      fc.tuple(tie('bool'), tie('str'), tie('str')).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
      tie('list').map((l) => `${l}.map(x, string(x)).join(",")`),
    ),
    list: fc.oneof(
      { maxDepth: 3 },
      fc.array(tie('num'), { minLength: 1, maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
      fc.constant('l'),
      fc.tuple(tie('list'), tie('list')).map(([a, b]) => `(${a} + ${b})`),
    ),
    bool: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom('true', 'false', 'b', '(o.missing == 1.0)', 'has(o.x)', 'has(o.y)'),
      fc.tuple(tie('num'), fc.constantFrom('<', '<=', '>', '>=', '=='), tie('num')).map((p) => `(${p.join(' ')})`),
      fc.tuple(tie('str'), fc.constantFrom('==', '!=', '<'), tie('str')).map((p) => `(${p.join(' ')})`),
      fc.tuple(tie('bool'), fc.constantFrom('&&', '||'), tie('bool')).map((p) => `(${p.join(' ')})`),
      tie('bool').map((a) => `!${a}`),
      fc
        .tuple(tie('str'), fc.constantFrom('contains', 'startsWith', 'endsWith'), tie('str'))
        .map(([a, f, b]) => `${a}.${f}(${b})`),
      fc
        .tuple(tie('list'), fc.constantFrom('all', 'exists', 'exists_one'), number, fc.constantFrom('<', '=='))
        .map(([l, f, n, op]) => `${l}.${f}(x, x ${op} ${n})`),
      fc.tuple(tie('num'), tie('list')).map(([n, l]) => `(${n} in ${l})`),
      fc.tuple(tie('list'), tie('list')).map(([a, b]) => `(${a} == ${b})`),
    ),
    any: fc.oneof(tie('num'), tie('str'), tie('bool')),
  }))
  const outcome = (work: () => unknown) => {
    try {
      return work()
    } catch {
      return 'failure'
    }
  }
  fc.assert(
    fc.property(
      fc.oneof(any, bool),
      fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }),
      fc.string({ maxLength: 3 }),
      fc.boolean(),
      (source, n, s, b) => {
        if (problemOf(source) !== null) return
        const values = { n, s, b, l: [n, 1], o: { x: 1 } }
        const [ours, theirs] = [() => evaluate(source, values), () => peer.evaluate(source, values) as unknown]
        expect({ source, value: outcome(ours) }).toEqual({ source, value: outcome(theirs) })
      },
    ),
    { numRuns: 10_000 * inject('propertyShare') },
  )
})
