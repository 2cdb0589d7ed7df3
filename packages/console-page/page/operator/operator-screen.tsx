import type { ReactNode } from 'react'
import { ApiRefusal } from '@gateway/api-client/failures'
import { refuse } from '@gateway/api/refusal'
import { useMe } from '../api/session.ts'
import { Screen } from '../frame/screen.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'

const refusal = new ApiRefusal(
  new Response(null, { status: 403 }),
  refuse('not_permitted', { need: 'the platform operator role' }).body,
)

/** Screen for platform operators. Other users see an error, and nothing is requested. */
export function OperatorScreen({
  title,
  actions,
  children,
}: {
  title: string
  actions?: ReactNode
  children: ReactNode
}) {
  const { platformOperator } = useMe()
  return (
    <Screen title={title} of="Operator" actions={platformOperator ? actions : undefined}>
      {platformOperator ? children : <RefusalBox error={refusal} />}
    </Screen>
  )
}
