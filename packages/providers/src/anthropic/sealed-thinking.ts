import type { ReasoningDetail } from '../chat-port.ts'
import type { ReasoningSeal } from '../reasoning-seal.ts'
import type { Fields } from '../untrusted.ts'

/** What of a block has to come back for the model to go on from its thinking: one, or none where the block is no such. */
export function sealedThinking(
  { type, thinking, signature, data }: Fields,
  { seal }: ReasoningSeal,
): ReasoningDetail[] {
  if (type === 'redacted_thinking' && typeof data === 'string')
    return [{ type: 'reasoning.encrypted', data: seal(data, '') }]
  if (type !== 'thinking' || typeof thinking !== 'string' || typeof signature !== 'string' || signature === '')
    return []
  return [{ type: 'reasoning.text', text: thinking, signature: seal(signature, thinking) }]
}
