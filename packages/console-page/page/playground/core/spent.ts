import { allAnswers, type Conversation } from './conversation.ts'

/** Charge of a conversation so far, in micro-USD, and the number of responses whose charge is pending. */
export function spent(conversation: Conversation): { micro: number; open: number } {
  const charges = allAnswers(conversation).map(({ chargedMicro }) => chargedMicro)
  const known = charges.filter((charge) => charge !== null)
  return { micro: known.reduce((sum, charge) => sum + charge, 0), open: charges.length - known.length }
}
