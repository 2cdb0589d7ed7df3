import { allAnswers, type Conversation } from './conversation.ts'

/** What a conversation was charged so far, in micro-USD, and how many of its answers have no final charge yet. */
export function spent(conversation: Conversation): { micro: number; open: number } {
  const charges = allAnswers(conversation).map(({ chargedMicro }) => chargedMicro)
  const known = charges.filter((charge) => charge !== null)
  return { micro: known.reduce((sum, charge) => sum + charge, 0), open: charges.length - known.length }
}
