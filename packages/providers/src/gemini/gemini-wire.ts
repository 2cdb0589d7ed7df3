import type { ProviderConfig } from '../provider-config.ts'
import { reasoningSeal } from '../reasoning-seal.ts'
import type { WireFormat } from '../wire-format.ts'
import { throwErrorInside } from '../openai-compatible/read-chat.ts'
import { openGenerateEvents, readGeminiError, rebuildResponse } from './read-generate.ts'
import { writeGenerate } from './write-generate.ts'

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
