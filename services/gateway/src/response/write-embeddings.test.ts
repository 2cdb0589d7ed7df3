import { expect, test } from 'vitest'
import { writeEmbeddings, writeVectors } from '../routes/v1/embeddings.ts'

const usage = { promptTokens: 3, completionTokens: 0 }
const write = async (format: 'float' | 'base64', vectors: Float32Array[]) =>
  JSON.parse(writeEmbeddings('m', await writeVectors(format, vectors), usage, 7)) as { data: object[] }

test('writes numbers or base64, with the cost in the usage', async () => {
  const vectors = [Float32Array.of(0.5, -1)]
  expect(await write('float', vectors)).toEqual({
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [0.5, -1] }],
    model: 'm',
    usage: { prompt_tokens: 3, total_tokens: 3, cost: 0.000007, cost_micro: 7 },
  })
  expect(await write('base64', vectors)).toMatchObject({ data: [{ embedding: 'AAAAPwAAgL8=' }] })
})

test('lets the process do other work while it writes millions of numbers', async () => {
  let turns = 0
  const counting = setInterval(() => turns++, 0)
  const { data } = await write('float', Array<Float32Array>(512).fill(new Float32Array(3_072).fill(0.1)))
  clearInterval(counting)
  expect(data).toHaveLength(512)
  expect(turns).toBeGreaterThan(10)
})
