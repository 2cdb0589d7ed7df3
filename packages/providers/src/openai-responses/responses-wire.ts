import { authorization } from '../openai-compatible/chat-wire.ts'
import type { ProviderConfig } from '../provider-config.ts'
import { reasoningSeal } from './reasoning-item.ts'
import type { WireFormat } from '../wire-format.ts'
import { openResponseEvents, rebuildResponse } from './read-responses.ts'
import { writeResponses } from './write-responses.ts'

type Config = Extract<ProviderConfig, { kind: 'openai-responses' }>

/** OpenAI refuses a smaller output cap in this format. Other servers do not. */
const leastCapOfOpenAi = 16

/**
 * OpenAI's Responses wire format. Nothing is stored at the provider: each request has the whole conversation, with the
 * reasoning items of earlier responses.
 */
export function responsesWire(config: Pick<Config, 'apiKey' | 'baseUrl' | 'encryptedReasoning'>): WireFormat {
  const seal = reasoningSeal(config)
  const headers = authorization(config)
  const rules = {
    encryptedReasoning: config.encryptedReasoning,
    leastCap: new URL(config.baseUrl).hostname === 'api.openai.com' ? leastCapOfOpenAi : 1,
  }
  return {
    request: (call) => ({ path: '/responses', headers, body: writeResponses(call, seal, rules) }),
    readCompletion: (body) => rebuildResponse(body, seal),
    openEvents: () => openResponseEvents(seal),
  }
}
