import { hash } from 'node:crypto'

// Signatures of thoughts. As at a real provider, a later request must bring them back unchanged, with what they sign.

/** Returns the proof that this model thought this. */
export function proofOf(...thought: string[]): string {
  return hash('sha256', JSON.stringify(['simulated thought', ...thought])).slice(0, 32)
}
