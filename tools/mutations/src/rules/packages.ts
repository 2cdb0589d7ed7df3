import type { Mutation } from '../mutation.ts'

/** Rules that the services share. */
export const packageRules: Mutation[] = [
  {
    id: 'price-rounding',
    rule: 'What a call costs is rounded up to a whole micro-USD.',
    file: 'packages/pricing/src/price.ts',
    find: 'costPico(...call) + PICO_PER_MICRO - 1n) / PICO_PER_MICRO',
    replace: 'costPico(...call)) / PICO_PER_MICRO',
    tests: ['packages/pricing'],
  },
  {
    id: 'contract-bytes-under',
    rule: 'Tools, tool choice and response format stay under their bytes.',
    file: 'packages/api/src/chat-request.ts',
    find: 'jsonBytes(value) < bytes',
    replace: 'jsonBytes(value) <= bytes',
    tests: ['packages/api'],
  },
  {
    id: 'flow-port-types',
    rule: 'A flow joins only ports of equal types.',
    file: 'packages/flow/src/graph/wiring-problems.ts',
    find: '(type) => type === wanted || ',
    replace: "(type) => type !== 'unknown' || ",
    tests: ['packages/flow'],
  },
  {
    id: 'provider-failover',
    rule: 'A call that every provider would refuse is not sent to the next one.',
    file: 'packages/providers/src/try-routes.ts',
    find: '      if (!error.retryable) break\n',
    replace: '',
    tests: ['packages/providers'],
  },
  {
    id: 'client-late-release',
    rule: 'An admission that was not answered in time is released.',
    file: 'packages/ledger-client/src/ledger-client.ts',
    find: 'if (pendingItem.sent) releaseLater(id) // S1',
    replace: 'if (!pendingItem.sent) releaseLater(id)',
    tests: ['packages/ledger-client'],
  },
  {
    id: 'log-redaction',
    rule: 'The secret of a key never is in a log line.',
    file: 'packages/service-kit/src/text/redact.ts',
    find: "      .replace(ownSecret, '$1…')\n",
    replace: '',
    tests: ['packages/service-kit/src/text'],
  },
]
