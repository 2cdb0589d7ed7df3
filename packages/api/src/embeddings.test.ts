import { expect, test } from 'vitest'
import { readEmbeddingRequest } from './embeddings.ts'
import { embeddingLimits } from './limits.ts'

const read = (fields: object) => readEmbeddingRequest({ model: 'm', ...fields })

test.for([
  ['one', { kind: 'texts', texts: ['one'] }, 3],
  [['one', 'zwölf'], { kind: 'texts', texts: ['one', 'zwölf'] }, 9],
  [[1, 2, 3], { kind: 'tokens', tokens: [[1, 2, 3]] }, 0],
  [[[1], [2, 3]], { kind: 'tokens', tokens: [[1], [2, 3]] }, 0],
] as const)('reads the input %j', ([input, inputs, bytes]) => {
  const { promptSize, tokens, ...request } = read({ input, user: 'u', dimensions: null })
  expect(request).toEqual({ model: 'm', projectId: null, inputs, format: 'float', dimensions: null })
  expect(promptSize.bytes).toBe(bytes)
  expect(tokens).toBe(bytes === 0 ? 3 : null)
})

const long = 'x'.repeat(embeddingLimits.inputBytes)
test.for<[object, string]>([
  [{}, 'input'],
  [{ input: '' }, 'input'],
  [{ input: [] }, 'input'],
  [{ input: ['a', ''] }, 'input.1'],
  [{ input: [[1], []] }, 'input.1'],
  [{ input: ['a', 1] }, 'input.1'],
  [{ input: Array.from({ length: embeddingLimits.inputs + 1 }, () => 'a') }, 'input'],
  [{ input: ['a', `${long}x`] }, 'input.1'],
  [{ input: Array.from({ length: 7 }, () => long) }, 'input'],
  [{ input: [Array.from({ length: embeddingLimits.inputTokens + 1 }, () => 1)] }, 'input.0'],
  [{ input: 'a', dimensions: 0 }, 'dimensions'],
  [{ input: 'a', encoding_format: 'int8' }, 'encoding_format'],
  [{ input: 'a', temperature: 1 }, 'temperature'],
])('refuses request %#, naming %s', ([fields, field]) => {
  expect(() => read(fields)).toThrow(
    expect.objectContaining({ code: 'invalid_request', body: expect.objectContaining({ param: field }) as object }),
  )
})
