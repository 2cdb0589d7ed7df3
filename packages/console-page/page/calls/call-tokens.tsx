import type { InvocationRecord } from '@gateway/api/console/money'
import { count } from '../pure/usd.ts'

/** Input and output tokens. */
export function CallTokens({ call: { promptTokens, completionTokens, estimated } }: { call: InvocationRecord }) {
  if (promptTokens === null || completionTokens === null) return <span className="soft">–</span>
  return (
    <span title={estimated ? 'Counted by the gateway; the provider reported no usage' : undefined}>
      {count(promptTokens)} <span className="soft">in</span> {count(completionTokens)} <span className="soft">out</span>
      {estimated && <span className="soft"> (estimated)</span>}
    </span>
  )
}
