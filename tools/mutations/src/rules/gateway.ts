import type { Mutation } from '../mutation.ts'

const admission = ['services/gateway/src/admission']
const rates = ['services/gateway/src/rates']

/** Rules of the gateway. */
export const gatewayRules: Mutation[] = [
  {
    id: 'gateway-project-share',
    rule: 'A project may have fewer calls at once the busier the process is.',
    file: 'packages/service-kit/src/http/caller-permits.ts',
    find: 'SHARE * (maxPermits - total)',
    replace: 'SHARE * maxPermits',
    tests: ['packages/service-kit/src/async/concurrency-limiter.test.ts'],
  },
  {
    id: 'gateway-queue-limit',
    rule: 'The next call is refused once as many wait for the ledger as may wait.',
    file: 'services/gateway/src/admission/limits.ts',
    find: 'if (waiting >= maxWaiting)',
    replace: 'if (waiting > maxWaiting)',
    tests: admission,
  },
  {
    id: 'gateway-rate-exception',
    rule: 'A key that the operator has freed of the usual rate has none.',
    file: 'services/gateway/src/rates/rates.ts',
    find: 'const { [subject]: limit = config[scope] } = exceptionsById',
    replace: 'const limit = exceptionsById[subject] ?? config[scope]',
    tests: rates,
  },
  {
    id: 'gateway-rate-release',
    rule: 'A call that is not admitted does not count toward its rate.',
    file: 'services/gateway/src/admission/admit-call.ts',
    find: "    if (admission.kind !== 'admitted' && 'undo' in place) place.undo()\n",
    replace: '',
    tests: rates,
  },
  {
    id: 'gateway-one-successor',
    rule: 'Of those who wait for a call that failed only one takes its place.',
    file: 'services/gateway/src/admission/running-calls.ts',
    find: 'leave(group, asker).resolve(outcome) // J2',
    replace: 'for (const joiner of joiners) leave(group, joiner).resolve(outcome)',
    tests: admission,
  },
  {
    id: 'gateway-text-bytes',
    rule: 'A body may be as long as the limit says, to the last byte.',
    file: 'services/gateway/src/request/read-chat.ts',
    find: 'text.length > chatLimits.textBodyBytes',
    replace: 'text.length >= chatLimits.textBodyBytes',
    tests: ['services/gateway/src/request', 'services/gateway/src/errors', 'scenarios/chat-bounds'],
  },
  {
    id: 'gateway-duplicate-header',
    rule: 'A header that decides who pays is refused when it comes twice.',
    file: 'services/gateway/src/request/read-headers.ts',
    find: "    if (seen?.includes(header)) throw refuse('duplicate_header', { header })\n",
    replace: '',
    tests: ['services/gateway/src/request', 'services/gateway/src/errors'],
  },
  {
    id: 'gateway-empty-selector',
    rule: 'An empty project in a header is a mismatch, not a call without one.',
    file: 'services/gateway/src/request/read-headers.ts',
    find: "if (typeof value === 'string') named.add(value)",
    replace: 'if (value) named.add(value)',
    tests: ['services/gateway/src/request', 'services/gateway/src/errors'],
  },
  {
    id: 'gateway-close-once',
    rule: 'A reservation is closed once.',
    file: 'services/gateway/src/provider-call/call-provider.ts',
    find: '  if (reservation.closed) return null // H1\n',
    replace: '',
    tests: ['services/gateway/src/provider-call', 'services/gateway/src/response', 'services/gateway/src/routes'],
  },
  {
    id: 'gateway-answer-kept',
    rule: 'The answer of a call with an idempotency key is kept for its repeats.',
    file: 'services/gateway/src/provider-call/call-provider.ts',
    find: 'saved = keyed && isSmallEnough(answer) ? answer : null',
    replace: 'saved = !keyed && isSmallEnough(answer) ? answer : null',
    tests: ['services/gateway/src/provider-call', 'services/gateway/src/response', 'services/gateway/src/routes'],
  },
  {
    id: 'gateway-host-check',
    rule: 'A web page on a host name that was turned to this machine calls no MCP tool.',
    file: 'services/gateway/src/mcp/transport.ts',
    find: 'if (direct && !validateHostHeader(',
    replace: 'if (!direct && !validateHostHeader(',
    tests: ['services/gateway/src/mcp'],
  },
]
