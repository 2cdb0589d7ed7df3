import type { Table } from '../check-table.ts'

const specifiedClaims = 'scenarios/spec/specified-claims.test.ts'
const executions = 'services/console/src/executions/executions.live.test.ts'
const invokeProgress = 'services/gateway/src/routes/v1/sandbox/invoke-progress.live.test.ts'
const invoke = 'services/gateway/src/routes/v1/sandbox/invoke.live.test.ts'
const records = 'services/ledger/src/executions/records/records.live.test.ts'

export const events = {
  '6/s1': {
    says: 'The service emits no event stream other than the per-run progress stream below.',
    provedBy: [
      [
        specifiedClaims,
        'the endpoints › that answer progress are those that execute a sandbox product or follow its execution, and no others',
      ],
    ],
  },
  '6/s2': {
    says: 'NDJSON progress of `POST /v1/sandbox/{id}/invoke` with `Accept: application/x-ndjson`:',
    because: 'introduces what follows it',
  },
  '6/r1': {
    says: '| `admitted` | the run has passed admission |',
    provedBy: [
      [invokeProgress, 'the progress of an execution › is its admission, each node that ends, and its record'],
    ],
  },
  '6/r2': {
    says: '| `node` | a node completed; its record carries `durationMs` and, for provider calls, `remoteMs` |',
    provedBy: [
      [invokeProgress, 'the progress of an execution › is its admission, each node that ends, and its record'],
      [records, 'the progress of an execution › is every line once, in order, whatever the reader had before'],
      [
        invokeProgress,
        'the progress of an execution › of an execution that fails ends with the node that did and the record',
      ],
    ],
  },
  '6/r3': {
    says: '| `complete` | the run has finished |',
    provedBy: [
      [invokeProgress, 'the progress of an execution › is its admission, each node that ends, and its record'],
      [
        invokeProgress,
        'the progress of an execution › of an execution that fails ends with the node that did and the record',
      ],
    ],
  },
  '6/s3': {
    says: 'Rules:',
    because: 'introduces what follows it',
  },
  '6/s4': {
    says: 'Refusals before admission are ordinary HTTP error responses, not stream events.',
    provedBy: [
      [
        invokeProgress,
        'the progress of an execution › is no answer to what is refused before it [input_type, sandbox_not_found]',
      ],
    ],
  },
  '6/s5': {
    says: 'A client that disconnects does not stop the run; it finishes on the server and settles.',
    provedBy: [
      [
        invokeProgress,
        '200 readers are cut off, and what each of them reads again has no gap, no repeat and the right last line',
      ],
      [invoke, 'an invocation › goes on when its caller leaves'],
      [executions, 'a client that leaves does not stop the execution'],
    ],
  },
  '6/s6': {
    says: 'Fields of each event record beyond those named: not shown.',
    because: 'left open; the fields are in flows §4.4',
  },
  '6/s7': {
    says: 'Outbound notifications to callers (webhooks or similar): not shown.',
    because: 'left open; there are none, says flows §4.4',
  },
} satisfies Table
