import type { EmbeddingWire } from '../provider-adapter.ts'
import type { ProviderConfig } from '../provider-config.ts'
import { readVectors } from '../read-media.ts'
import { fieldsOf, isCount, list, UnfitAnswer } from '../untrusted.ts'
import { authorization, azureAddress } from './chat-wire.ts'
import { throwErrorInside } from './read-chat.ts'
import { embeddingLimits } from '@gateway/api/limits'

type Config = Extract<ProviderConfig, { kind: 'openai-compatible' | 'openai-responses' | 'azure-openai' }>

/** The embeddings wire format. Asks for base64, a third of the size, and reads arrays from servers that ignore that. */
export function embeddingsWire(config: Config): EmbeddingWire {
  const headers = authorization(config)
  const address =
    config.kind === 'azure-openai' ? azureAddress(config) : (_model: string, path: string) => ({ headers, path })
  return {
    request: (model, { inputs, dimensions }) => ({
      ...address(model, '/embeddings'),
      body: JSON.stringify({
        model,
        input: inputs.kind === 'texts' ? inputs.texts : inputs.tokens,
        encoding_format: 'base64',
        ...(dimensions !== null && { dimensions }),
      }),
    }),
    read(body, wish) {
      throwErrorInside(body)
      const { data, usage } = fieldsOf(body)
      const { prompt_tokens: promptTokens } = fieldsOf(usage)
      const vectors = readVectors(inOrder(list(data, embeddingLimits.inputs, 'data')), wish)
      return { vectors, promptTokens: isCount(promptTokens) ? promptTokens : null }
    },
  }
}

/** `index` names the input of a vector; without it, the order does. */
function inOrder(data: unknown[]): unknown[] {
  const ordered = Array.from<unknown>({ length: data.length })
  const seen = new Set<number>()
  for (const [n, entry] of data.entries()) {
    const { index = n, embedding } = fieldsOf(entry)
    if (!isCount(index) || index >= data.length || seen.has(index)) throw new UnfitAnswer('index is not of an input')
    seen.add(index)
    ordered[index] = embedding
  }
  return ordered
}
