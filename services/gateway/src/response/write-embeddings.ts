import { setImmediate as turn } from 'node:timers/promises'
import { type AnswerUsage, wireUsage } from '@gateway/api/chat-answer'
import type { EmbeddingRequest } from '@gateway/api/embeddings'

/** Written between two turns of the event loop: milliseconds of work. A response can have millions of numbers. */
const NUMBERS_PER_TURN = 32_768

/** Returns the `data` of POST /v1/embeddings as JSON: vectors in the order of the inputs, as numbers or as base64. */
export async function writeVectors(
  format: EmbeddingRequest['format'],
  vectors: readonly Float32Array[],
): Promise<string> {
  const entries: string[] = []
  let written = 0
  for (const [index, vector] of vectors.entries()) {
    const embedding = format === 'base64' ? base64Of(vector) : Array.from(vector)
    entries.push(JSON.stringify({ object: 'embedding', index, embedding }))
    written += vector.length
    if (written < NUMBERS_PER_TURN) continue
    written = 0
    await turn()
  }
  return `[${entries.join(',')}]`
}

/** Returns the whole answer, given its `data`. */
export function writeEmbeddings(model: string, data: string, usage: AnswerUsage, chargedMicro: number | null): string {
  const { completion_tokens: _none, ...counted } = wireUsage(usage, chargedMicro)
  return `{"object":"list","data":${data},"model":${JSON.stringify(model)},"usage":${JSON.stringify(counted)}}`
}

function base64Of({ buffer, byteOffset, byteLength }: Float32Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64')
}
