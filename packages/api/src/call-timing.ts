import { z } from 'zod'

/** How a try at a provider ended: `answered`, the kind of its failure, or `stopped`: the gateway ended it. */
export const tryOutcome = z.enum([
  'answered',
  'unreachable',
  'refused',
  'timeout',
  'cut',
  'garbage',
  'too_large',
  'busy',
  'circuit_open',
  'stopped',
])
export type TryOutcome = z.infer<typeof tryOutcome>

/** Since the admission of the call, in milliseconds. */
const sinceAdmission = z.int().min(0).max(3_600_000)

export const providerTry = z.strictObject({
  provider: z.string().min(1).max(64),
  startMs: sinceAdmission.describe('from the admission of the call'),
  endMs: sinceAdmission.describe('from the admission of the call'),
  outcome: tryOutcome,
})
export type ProviderTry = z.infer<typeof providerTry>

/** Maximum number of tries kept for a call: the last ones. */
export const MAX_TRIES = 16

/** What happened between the admission of a call and its end, as the process that served it measured it. */
export const callTiming = z.strictObject({
  /** First chunk of a streamed response; null: not streamed, or there was none. */
  firstTokenMs: sinceAdmission.nullable(),
  tries: z.array(providerTry).max(MAX_TRIES),
})
export type CallTiming = z.infer<typeof callTiming>
