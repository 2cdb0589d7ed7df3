import { hash } from 'node:crypto'

/** Forms of ids that many providers give, and that say nothing. */
const saysNothing = /^(call_[A-Za-z0-9]{8,40}|[A-Za-z0-9]{9})$/

/**
 * The id of a tool call as a caller sees it. Ids have a form by which a provider is known (`toolu_…`, `chatcmpl-tool-…`);
 * such a one is replaced, always by the same. It needn't be found again: callers send both ends of it back, the call and
 * its result, and providers only compare the two.
 */
export function callIdOf(providersId: string): string {
  return saysNothing.test(providersId) ? providersId : `call_${hash('sha256', providersId).slice(0, 24)}`
}
