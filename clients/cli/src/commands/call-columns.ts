import type { InvocationRecord } from '@gateway/api/console/money'
import { usd } from '@gateway/pricing/usd'
import type { Cell } from '../frame/print.ts'

/** Columns of a call. */
export const callColumns: Readonly<Record<string, (call: InvocationRecord) => Cell>> = {
  admitted: ({ createdAt }) => createdAt,
  call: ({ id }) => id,
  model: ({ model }) => model,
  state: ({ state, reason }) => (reason === null ? state : `${state}: ${reason}`),
  '>prompt': ({ promptTokens }) => promptTokens,
  '>answered': ({ completionTokens }) => completionTokens,
  '>charged': ({ chargedMicro }) => usd(chargedMicro),
}
