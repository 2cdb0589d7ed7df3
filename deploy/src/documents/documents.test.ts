import { existsSync, readFileSync } from 'node:fs'
import { openApiDocument } from '@gateway/api/openapi-document'
import { refusals } from '@gateway/api/refusals'
import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import { documents, fileOf, RENEW } from './documents.ts'
import { refusalsPage } from './refusals-page.ts'

test.each(Object.entries(documents))('%s is as the code says', (document, content) => {
  const kept = existsSync(fileOf(document)) ? readFileSync(fileOf(document), 'utf8') : ''
  expect(kept === content(), `${document} is out of date. Renew it with: ${RENEW}`).toBe(true)
})

test('the OpenAPI document is one', async () => {
  const { valid, errors } = await new Validator().validate(openApiDocument())
  expect([valid, errors]).toEqual([true, undefined])
})

test('every code has a way to be cleared', () => {
  const page = refusalsPage()
  for (const code of Object.keys(refusals)) {
    const [, section = ''] = page.split(`\n## ${code}\n`)
    expect([code, /How to fix it:\s+\S/.test(section.split('\n## ')[0]!)]).toEqual([code, true])
  }
})
