import { refusals } from '@gateway/api/refusals'
import { refusalAnswer } from '@gateway/api/answer-shapes'
import { expect, test } from 'vitest'
import { docsSite } from './docs-site.ts'
import { refusalPages } from './refusal-pages.ts'

const { texts } = docsSite()
const codes = Object.entries(refusals)

test.for(codes)('%s has a page that says its status, what clears it, who, and whether to repeat it', ([code, row]) => {
  const markdown = texts.get(`/docs/refusals/${code}.md`)!.text()
  expect(markdown).toContain(`HTTP status **${row.status}**, \`${row.type}\``)
  expect(markdown).toMatch(/\*\*What clears it:\*\*\s+(?:- )?\S.{3}/)
  expect(markdown).toMatch(/## Who clears it\n\n\S.{9}/)
  const [, example = ''] = /```json\n([^]*?)```/.exec(markdown) ?? []
  const { error } = refusalAnswer.parse(JSON.parse(example))
  expect([error.code, error.message.length > 3, error.resolution.length > 3]).toEqual([code, true, true])
})

test('the list of all codes leads to the page of each', () => {
  const text = texts.get('/docs/refusals')!.text()
  for (const [code] of codes) expect(text).toContain(`href="/docs/refusals/${code}"`)
})

test('a code in a guide leads to its page', () => {
  expect(texts.get('/docs/flows')!.text()).toContain('<a href="/docs/refusals/input_type"><code>')
})

test('names the refusal that a table lacks', () => {
  expect(() => refusalPages('# Refusals\n\n## invalid_json\n')).toThrow(/says nothing of duplicate_header,/)
})
