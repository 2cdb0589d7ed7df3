import type { ProviderConfig } from '../provider-config.ts'
import { reasoningSeal } from '../reasoning-seal.ts'
import type { WireFormat } from '../wire-format.ts'
import { openMessageEvents, rebuildMessage, throwErrorInside } from './read-messages.ts'
import { writeMessages } from './write-messages.ts'

/** The revision of the format that is written here; it has been the newest since it exists. */
const version = '2023-06-01'

/**
 * Anthropic's Messages wire format. Written by hand: the official SDK (27 MB unpacked, three dependencies) brings its own
 * way of connecting, of trying again and of reading streams, none of which knows our bounds (chat-port.ts) or limits of
 * time, and what remains to do, to say a call in other words, would be ours all the same.
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
