import { refusals, typeOf } from '@gateway/api/refusals'
import { refusalAnswer } from '@gateway/api/answer-shapes'
import { expect, test } from 'vitest'
import { docsSite } from '../routes/docs.ts'
import { refusalPages } from './refusal-pages.ts'

const { texts } = docsSite()
const codes = Object.entries(refusals)

test.for(codes)('%s has a page with its status, resolution, who can resolve it, and an example', ([code, row]) => {
  const markdown = texts.get(`/docs/refusals/${code}.md`)!.text()
  expect(markdown).toContain(`HTTP status **${row.status}**, \`${typeOf(row)}\``)
  expect(markdown).toMatch(/\*\*How to fix it:\*\*\s+(?:- )?\S.{3}/)
  expect(markdown).toMatch(/## Who clears it\n\n\S.{9}/)
  const [, example = ''] = /```json\n([^]*?)```/.exec(markdown) ?? []
  const { error } = refusalAnswer.parse(JSON.parse(example))
  expect([error.code, error.message.length > 3, error.resolution.length > 3]).toEqual([code, true, true])
})

test('the list of error codes links to each page', () => {
  const text = texts.get('/docs/refusals')!.text()
  for (const [code] of codes) expect(text).toContain(`href="/docs/refusals/${code}"`)
})

test('an error code in a guide links to its page', () => {
  expect(texts.get('/docs/flows')!.text()).toContain('<a href="/docs/refusals/input_type"><code>')
})

test('throws and names an error code that the document lacks', () => {
  expect(() => refusalPages('# Refusals\n\n## invalid_json\n')).toThrow(/lacks duplicate_header,/)
})
