import type { Mutation } from '../mutation.ts'

const tests = ['services/worker/src']

/** Rules of the worker. */
export const workerRules: Mutation[] = [
  {
    id: 'worker-funds-wait',
    rule: 'A node waits for money that other calls have only reserved.',
    file: 'services/worker/src/perform/perform-paid-node.ts',
    find: 'if (!fitsLater(outcome) ||',
    replace: 'if (fitsLater(outcome) ||',
    tests,
  },
  {
    id: 'worker-lease-lost',
    rule: 'A node whose lease is lost before its call is given back, not failed.',
    file: 'services/worker/src/perform/explain-failure.ts',
    find: "  if (error instanceof LeaseLost) return { kind: 'given-back' }\n",
    replace: '',
    tests,
  },
  {
    id: 'worker-answer-charged',
    rule: 'What a provider has answered is charged.',
    file: 'services/worker/src/perform/perform-paid-node.ts',
    find: 'return { result, usage, remoteMs:',
    replace: 'return { result, usage: null, remoteMs:',
    tests,
  },
  {
    id: 'worker-value-bytes',
    rule: 'A value on a port has at most 64 KB.',
    file: 'services/worker/src/perform/perform-paid-node.ts',
    find: '    refuseLargeValues(work.claim.node.id, output)\n',
    replace: '',
    tests,
  },
  {
    id: 'worker-stop-aborts',
    rule: 'The call of a node is aborted when its execution is stopped.',
    file: 'services/worker/src/run/cancellation.ts',
    find: "if (outcome?.kind === 'nothing-to-do') {",
    replace: "if (outcome?.kind === 'quarantined') {",
    tests: [...tests, 'scenarios/stopped-executions'],
  },
  {
    id: 'worker-lock-lost',
    rule: 'A worker that lost the lock of the queue continues, because the lease counts.',
    file: 'services/worker/src/run/cancellation.ts',
    find: "if (reason instanceof JobAborted && reason.reason === 'stopping')",
    replace: 'if (reason instanceof JobAborted)',
    tests,
  },
  {
    id: 'worker-tool-arguments',
    rule: 'A tool call whose arguments do not fit the schema of the tool fails the node.',
    file: 'services/worker/src/kinds/product-chat.ts',
    find: 'if (fault !== null) throw',
    replace: 'if (fault !== null && tools.length === 0) throw',
    tests,
  },
  {
    id: 'worker-image-error',
    rule: 'An image that the product does not take is refused before anything is reserved.',
    file: 'services/worker/src/kinds/product-chat.ts',
    find: '  if (attachmentError !== null) throw attachmentError\n',
    replace: '',
    tests,
  },
]
