import type { Values } from '@gateway/contracts/execution'
import { flowLimits } from '@gateway/contracts/limits'
import { refuse } from '@gateway/contracts/refusal'

/**
 * A value on a port is at most 64 KB of compact JSON (spec 8.2).
 * @throws Refusal value_too_large
 */
export function refuseLargeValues(node: string, output: Values): void {
  const limitBytes = flowLimits.portBytes
  for (const [port, value] of Object.entries(output))
    if (Buffer.byteLength(JSON.stringify(value)) > limitBytes)
      throw refuse('value_too_large', { node, port, limitBytes }, { details: { node, port, limitBytes } })
}
