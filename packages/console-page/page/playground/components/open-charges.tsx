import { allAnswers, type Answer } from '../core/conversation.ts'
import { useCharge } from '../data/use-charge.ts'
import type { UsedConversation } from '../data/use-conversation.ts'

/** Polls pending charges. Renders nothing. */
export function OpenCharges({
  of: { conversation, settle },
  secret,
}: {
  of: UsedConversation
  secret: string | undefined
}) {
  const open = allAnswers(conversation).filter(
    ({ invocation, chargedMicro, state }) => invocation !== null && chargedMicro === null && state !== 'streaming',
  )
  return open.map((answer) => (
    <OpenCharge
      key={answer.invocation}
      of={answer}
      secret={secret}
      onKnown={(known) => settle(answer.invocation!, known)}
    />
  ))
}

function OpenCharge({
  of,
  secret,
  onKnown,
}: {
  of: Answer
  secret: string | undefined
  onKnown: Parameters<typeof useCharge>[2]
}) {
  useCharge(of, secret, onKnown)
  return null
}
