import { describe, expect, test } from 'vitest'
import { checkBody, readCheck } from './admission-check.ts'

const call = readCheck({ model: 'acme/swift', promptBytes: 100 })

describe('readCheck', () => {
  test('takes a prompt by its size in bytes, or messages measured as in a call', () => {
    const sized = { bytes: 100, messages: 1, tools: 0, images: 0, files: 0, counted: null, maxTokens: null }
    expect(call).toEqual({ request: null, model: 'acme/swift', parameters: [], promptSize: sized })
    const messages = [{ role: 'user', content: 'Hello' }] as const
    const { promptSize } = readCheck(checkBody.parse({ model: 'acme/swift', maxTokens: 20, messages }))
    expect(promptSize).toMatchObject({ bytes: JSON.stringify({ messages }).length, messages: 1, maxTokens: 20 })
  })

  test('refuses a sandbox product, and messages together with a size [invalid_request]', () => {
    expect(() => readCheck({ model: 'sbx-1' })).toThrow(expect.objectContaining({ code: 'invalid_request' }))
    const both = { model: 'acme/swift', promptBytes: 1, messages: [{ role: 'user', content: 'Hello' }] }
    expect(checkBody.safeParse(both).error?.issues[0]?.path).toEqual(['promptBytes'])
  })
})
