import { expect, test } from 'vitest'
import { CelExhausted, CelFailure, readExpression } from './cel.ts'
import { readTemplate, templateHoles } from './template.ts'

function rendered(source: string, values: Record<string, unknown> = {}, limitBytes = 65_536) {
  const read = readTemplate(source)
  if ('problems' in read) throw new Error(read.problems.join('; '))
  const result = read.template.render(values, limitBytes)
  return 'text' in result ? result.text : result
}
const problemsOf = (source: string) => {
  const read = readTemplate(source)
  return 'problems' in read ? read.problems : []
}

test('prints strings, numbers and booleans as text, objects and lists as JSON, and null or absent values as nothing', () => {
  expect(
    rendered('a {{ s }}|{{n}}|{{ b }}|{{ o }}|{{ l }}|{{ none }}|{{ absent }} z', {
      s: '"x"',
      n: 1.5,
      b: true,
      o: { k: [1] },
      l: [1, 'x'],
      none: null,
    }),
  ).toBe('a "x"|1.5|true|{"k":[1]}|[1,"x"]|| z')
})

test('a hole can contain any expression, including braces and strings with braces', () => {
  expect(rendered('{{ {"a": {"b": n}} }}', { n: 1 })).toBe('{"a":{"b":1}}')
  expect(rendered('{{ "}}" + \'{{\' }} and {{ "\\"}}" }}')).toBe('}}{{ and "}}')
  expect(rendered('{ } }} {{ "{{" }}')).toBe('{ } }} {{')
})

test('a hole can contain every string that an expression can', () => {
  expect(rendered('{{ """5" wide }} or ""6" """ }}|{{ \'\'\'it\'s\'\'\' }}')).toBe('5" wide }} or ""6" |it\'s')
  expect(rendered('{{ """a\\"""}}""" }}{{ r"""C:\\d""" }}{{ "" }}{{ r"\\n" }}')).toBe('a"""}}C:\\d\\n')
  // The parser takes a backslash before a quote as part of the string, even of a raw one.
  expect(problemsOf('{{ r"C:\\" }}')).toHaveLength(1)
  expect(readExpression('r"C:\\"')).toHaveProperty('problem')
  expect(problemsOf('{{ """a" }}')).toHaveLength(1)
})

test('the ports of a template are the names in its holes, each once', () => {
  const read = readTemplate('{{ b }} {{ a + b }} {{ l.map(x, x + c) }}')
  expect('template' in read && read.template.names).toEqual(['b', 'a', 'l', 'c'])
})

test('reports a problem for each invalid hole', () => {
  expect(problemsOf('{{ a')).toHaveLength(1)
  expect(problemsOf('{{ "a }}')).toHaveLength(1)
  expect(problemsOf('{{ a + }} {{ b.matches("x") }}')).toHaveLength(2)
  expect(problemsOf('{{}}')).toHaveLength(1)
  expect(problemsOf('{{ a }}'.repeat(templateHoles))).toEqual([])
  expect(problemsOf('{{ a }}'.repeat(templateHoles + 1))).toHaveLength(1)
})

test('stops rendering when the text exceeds its limit in UTF-8 bytes', () => {
  expect(rendered('{{ a }}{{ a }}', { a: 'ä'.repeat(5) }, 20)).toBe('ä'.repeat(10))
  expect(rendered('{{ a }}{{ a }}!', { a: 'ä'.repeat(5) }, 20)).toEqual({ tooLarge: true })
  expect(rendered('{{ [a, a] }}', { a: 'x'.repeat(10) }, 20)).toEqual({ tooLarge: true })
  // A list of 1,000 times the same list of 1,000 would be a megabyte.
  const list = Array.from({ length: 1000 }, () => 0)
  expect(rendered('{{ l.map(x, l) }}', { l: list })).toEqual({ tooLarge: true })
})

test('fails on a hole without a value, and shares one step budget between all holes', () => {
  expect(() => rendered('{{ o.x }}', { o: {} })).toThrow(CelFailure)
  const list = Array.from({ length: 30_000 }, () => 0)
  expect(rendered('{{ l.all(x, x == 0) }}', { l: list })).toBe('true')
  expect(() => rendered('{{ l.all(x, x == 0) }}'.repeat(20), { l: list })).toThrow(CelExhausted)
})
