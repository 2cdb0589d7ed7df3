import type { ReasoningDetail } from '../chat-port.ts'
import type { ReasoningSeal } from '../reasoning-seal.ts'

/** What of a block of reasoning has to come back. `redacted` is base64, or '' where there is none. */
export interface Reasoning {
  text: string
  signature: string
  redacted: string
}

export function sealedReasoning({ text, signature, redacted }: Reasoning, { seal }: ReasoningSeal): ReasoningDetail[] {
  if (redacted !== '') return [{ type: 'reasoning.encrypted', data: seal(redacted, '') }]
  return signature === '' ? [] : [{ type: 'reasoning.text', text, signature: seal(signature, text) }]
}
