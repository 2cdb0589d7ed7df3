import { describe, expect, test } from 'vitest'
import { checkBody, readCheck } from './admission-check.ts'

const call = readCheck({ model: 'acme/swift', promptBytes: 100 })

describe('what is asked', () => {
  test('is a prompt by its bytes, or messages that are measured as those of a call', () => {
    const sized = { bytes: 100, messages: 1, tools: 0, images: 0, counted: null, maxTokens: null }
    expect(call).toEqual({ request: null, model: 'acme/swift', parameters: [], promptSize: sized })
    const messages = [{ role: 'user', content: 'Hello' }] as const
    const { promptSize } = readCheck(checkBody.parse({ model: 'acme/swift', maxTokens: 20, messages }))
    expect(promptSize).toMatchObject({ bytes: JSON.stringify({ messages }).length, messages: 1, maxTokens: 20 })
  })

  test('is not a sandbox product, and not both [invalid_request]', () => {
    expect(() => readCheck({ model: 'sbx-1' })).toThrow(expect.objectContaining({ code: 'invalid_request' }))
    const both = { model: 'acme/swift', promptBytes: 1, messages: [{ role: 'user', content: 'Hello' }] }
    expect(checkBody.safeParse(both).error?.issues[0]?.path).toEqual(['promptBytes'])
  })
})
