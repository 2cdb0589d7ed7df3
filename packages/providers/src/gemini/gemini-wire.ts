import type { ProviderConfig } from '../provider-config.ts'
import { reasoningSeal } from '../openai-responses/reasoning-item.ts'
import { type WireFormat, NotInWireFormat } from '../wire-format.ts'
import { throwErrorInside } from '../openai-compatible/read-chat.ts'
import { openGenerateEvents, readGeminiError, rebuildResponse } from './read-generate.ts'
import { writeGenerate } from './write-generate.ts'
import { embeddingLimits } from '@gateway/api/limits'
import type { EmbeddingWire } from '../provider-adapter.ts'
import { readVectors } from '../read-media.ts'
import { fieldsOf, isCount, list } from '../untrusted.ts'

/**
 * Google's generateContent format (https://ai.google.dev/api/generate-content), handwritten for the reasons in
 * anthropic/messages-wire.ts. A stream has no end marker; the clean end of the body is its end.
 */
export function geminiWire(config: Pick<ProviderConfig, 'apiKey' | 'baseUrl'>): WireFormat {
  const { apiKey } = config
  const seal = reasoningSeal(config)
  const headers = apiKey === undefined ? [] : ['x-goog-api-key', apiKey]
  return {
    request: (call) => ({
      path: `/models/${encodeURIComponent(call.model)}:${call.stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
      headers,
      body: writeGenerate(call, seal),
    }),
    readCompletion(body) {
      throwErrorInside(body)
      return rebuildResponse(body, seal)
    },
    openEvents: () => openGenerateEvents(seal),
    readError: readGeminiError,
  }
}

/** Inputs that one request may have. */
const MAX_INPUTS = 100

/** Google's batchEmbedContents format. It has no token arrays. */
export function embedWire({ apiKey }: Pick<ProviderConfig, 'apiKey'>): EmbeddingWire {
  const headers = apiKey === undefined ? [] : ['x-goog-api-key', apiKey]
  return {
    request(model, { inputs, dimensions }) {
      if (inputs.kind === 'tokens')
        throw new NotInWireFormat('input', 'has tokens, which this model does not accept', 'send texts')
      if (inputs.texts.length > MAX_INPUTS)
        throw new NotInWireFormat(
          'input',
          `has ${inputs.texts.length} entries, more than this model accepts`,
          `send at most ${MAX_INPUTS} entries`,
        )
      const requests = inputs.texts.map((text) => ({
        model: `models/${model}`,
        content: { parts: [{ text }] },
        ...(dimensions !== null && { outputDimensionality: dimensions }),
      }))
      return {
        path: `/models/${encodeURIComponent(model)}:batchEmbedContents`,
        headers,
        body: JSON.stringify({ requests }),
      }
    },
    read(body, wish) {
      throwErrorInside(body)
      const { embeddings, usageMetadata } = fieldsOf(body)
      const { promptTokenCount } = fieldsOf(usageMetadata)
      const values = list(embeddings, embeddingLimits.inputs, 'embeddings').map((each) => fieldsOf(each)['values'])
      return { vectors: readVectors(values, wish), promptTokens: isCount(promptTokenCount) ? promptTokenCount : null }
    },
  }
}
