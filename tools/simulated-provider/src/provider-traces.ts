import type { Seeded } from './seeded.ts'

/**
 * Identifying traces in the responses of this provider, like those of a real one. None of these may ever reach a caller
 * of the gateway: a leak test searches every byte and header for them.
 */
export const tracesOfTheProvider = [
  'simulated-provider',
  'simulated-org',
  'SimulatedProvider',
  'chatcmpl-sim',
  'req_sim',
  'fp_sim',
  'sim_cookie',
  '-2026-08-06',
  'native_finish_reason',
  'msg_sim',
  'toolu_',
  'sim_signature',
  'sim_encrypted',
  'resp_sim',
  'rs_simthought',
  'fc_sim',
  'anthropic',
] as const

/** Headers on every response in the chat-completions dialect. */
export function traceHeaders(callId: string): Record<string, string> {
  return {
    server: 'simulated-provider/1.0',
    'x-request-id': `req_sim${callId}`,
    'openai-organization': 'simulated-org-4711',
    'openai-version': '2020-10-01',
    'openai-processing-ms': '7',
    'x-ratelimit-remaining-requests': '9999',
    'set-cookie': 'sim_cookie=1; path=/',
  }
}

/** Fields around the choices of a completion or chunk. */
export function traceFields(model: string, random: Seeded): Record<string, string | number> {
  return {
    id: `chatcmpl-sim${random.hex(12)}`,
    created: 1_770_000_000 + random.next(1_000_000),
    model: `${model}-2026-08-06`,
    provider: 'SimulatedProvider',
    service_tier: 'default',
    system_fingerprint: `fp_sim${random.hex(6)}`,
  }
}

/** An error body as real providers write it, including their names. */
export function errorBody(status: number, callId: string): object {
  return {
    error: {
      message: `The simulated-provider answered ${status} to simulated-org-4711 (request req_sim${callId}).`,
      type: status === 429 ? 'rate_limit_error' : status >= 500 ? 'server_error' : 'invalid_request_error',
      param: null,
      code: status === 429 ? 'rate_limit_exceeded' : null,
    },
    provider: 'SimulatedProvider',
  }
}
