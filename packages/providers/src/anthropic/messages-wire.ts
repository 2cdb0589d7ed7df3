import type { ProviderConfig } from '../provider-config.ts'
import { reasoningSeal } from '../openai-responses/reasoning-item.ts'
import type { WireFormat } from '../wire-format.ts'
import { openMessageEvents, rebuildMessage, throwErrorInside } from './read-messages.ts'
import { writeMessages } from './write-messages.ts'

/** Revision of the format. There has been no newer one since. */
const version = '2023-06-01'

/**
 * Anthropic's Messages wire format. Handwritten: the official SDK (27 MB unpacked, three dependencies) has its own
 * connections, retries and stream reading, none of which respects our size bounds (chat-port.ts) or timeouts. The
 * translation, which is the rest of the work, would still be ours.
 */
export function messagesWire(config: Pick<ProviderConfig, 'apiKey' | 'baseUrl'>): WireFormat {
  const { apiKey } = config
  const seal = reasoningSeal(config)
  const headers = ['anthropic-version', version, ...(apiKey === undefined ? [] : ['x-api-key', apiKey])]
  return {
    request: (call) => ({ path: '/messages', headers, body: writeMessages(call, seal) }),
    readCompletion(body) {
      throwErrorInside(body)
      return rebuildMessage(body, seal)
    },
    openEvents: () => openMessageEvents(seal),
  }
}
