import type { Table } from '../check-table.ts'

const chatRequest = 'packages/contracts/src/chat-request.test.ts'
const contracts = 'packages/flow/src/contract.test.ts'
const runFreeNode = 'packages/flow/src/run-free-node.test.ts'
const validateGraph = 'packages/flow/src/validate-graph.test.ts'
const flowCrashes = 'scenarios/flow-crashes.scenario.ts'
const keyLimits = 'scenarios/key-limits.scenario.ts'
const mcpClients = 'scenarios/mcp-clients.scenario.ts'
const nothingLeaks = 'scenarios/nothing-leaks.scenario.ts'
const specifiedClaims = 'scenarios/spec/specified-claims.test.ts'
const products = 'services/console/src/catalogue/products.live.test.ts'
const executions = 'services/console/src/executions/executions.live.test.ts'
const createKey = 'services/console/src/keys/create-key.live.test.ts'
const refusals = 'services/gateway/src/errors/refusals.live.test.ts'
const readChat = 'services/gateway/src/request/read-chat.test.ts'
const readInvocation = 'services/gateway/src/request/read-invocation.test.ts'
const assets = 'services/gateway/src/routes/v1/assets.live.test.ts'
const chatCompletions = 'services/gateway/src/routes/v1/chat-completions.live.test.ts'
const nodeCallers = 'services/ledger/src/admissions/node-callers.live.test.ts'
const admissionsNodes = 'services/ledger/src/admissions/nodes.live.test.ts'
const claimsAndResults = 'services/ledger/src/executions/nodes/claims-and-results.live.test.ts'
const decideExecution = 'services/ledger/src/executions/nodes/decide-execution.test.ts'
const randomExecutions = 'services/ledger/src/executions/nodes/random-executions.live.test.ts'
const deadlineEnforcer = 'services/ledger/src/maintenance/deadline-enforcer.live.test.ts'
const workerNodes = 'services/worker/src/nodes.live.test.ts'
const survival = 'services/worker/src/survival.live.test.ts'

export const limits = {
  '8.1/r1': {
    says: '| messages | 1 to 100 |',
    provedBy: [
      [specifiedClaims, 'the limits › of chat completions are those of the table, and it has no others'],
      [
        chatRequest,
        'every bound of rules §3.1 and §3.2 at its value, and one beyond [invalid_request] › %s',
        "['messages',",
      ],
      [
        chatRequest,
        'a refusal points at the field, and says in plain words what is wrong and the rule [invalid_request] › %#: %j',
        "role: 'robot'",
      ],
      [chatRequest, 'what is read › messages of every role with every field we answer with'],
      [
        chatRequest,
        'a refusal points at the field, and says in plain words what is wrong and the rule [invalid_request] › %#: %j',
        'messages is missing',
      ],
    ],
  },
  '8.1/r2': {
    says: "| `max_tokens` | 0 to 8192, and at most the model's `max_output_tokens` |",
    provedBy: [
      [specifiedClaims, 'the limits › of chat completions are those of the table, and it has no others'],
      [
        chatRequest,
        'every bound of rules §3.1 and §3.2 at its value, and one beyond [invalid_request] › %s',
        "['max_tokens',",
      ],
      [
        refusals,
        'a call is refused, reserves nothing and says what clears it › $title',
        'more output than the model has',
      ],
    ],
  },
  '8.1/r3': {
    says: '| `temperature` | 0 to 2 |',
    provedBy: [
      [specifiedClaims, 'the limits › of chat completions are those of the table, and it has no others'],
      [
        chatRequest,
        'every bound of rules §3.1 and §3.2 at its value, and one beyond [invalid_request] › %s',
        "['temperature',",
      ],
    ],
  },
  '8.1/r4': {
    says: '| `top_p` | above 0, at most 1 |',
    provedBy: [
      [specifiedClaims, 'the limits › of chat completions are those of the table, and it has no others'],
      [
        chatRequest,
        'every bound of rules §3.1 and §3.2 at its value, and one beyond [invalid_request] › %s',
        "['top_p',",
      ],
    ],
  },
  '8.1/r5': {
    says: '| `n` | exactly 1 |',
    provedBy: [
      [specifiedClaims, 'the limits › of chat completions are those of the table, and it has no others'],
      [chatRequest, 'every bound of rules §3.1 and §3.2 at its value, and one beyond [invalid_request] › %s', "['n',"],
    ],
  },
  '8.1/r6': {
    says: '| `stop` | up to 4 sequences of 1 to 64 characters |',
    provedBy: [
      [specifiedClaims, 'the limits › of chat completions are those of the table, and it has no others'],
      [
        chatRequest,
        'every bound of rules §3.1 and §3.2 at its value, and one beyond [invalid_request] › %s',
        "['stop sequences',",
      ],
      [
        chatRequest,
        'every bound of rules §3.1 and §3.2 at its value, and one beyond [invalid_request] › %s',
        "['a stop sequence',",
      ],
    ],
  },
  '8.1/r7': {
    says: '| `tools` | up to 64 definitions, under 32 KB total |',
    provedBy: [
      [specifiedClaims, 'the limits › of chat completions are those of the table, and it has no others'],
      [
        chatRequest,
        'every bound of rules §3.1 and §3.2 at its value, and one beyond [invalid_request] › %s',
        "['tools',",
      ],
      [
        chatRequest,
        'every bound of rules §3.1 and §3.2 at its value, and one beyond [invalid_request] › %s',
        "['bytes of tools',",
      ],
    ],
  },
  '8.1/r8': {
    says: '| `tool_choice` | under 2 KB |',
    provedBy: [
      [specifiedClaims, 'the limits › of chat completions are those of the table, and it has no others'],
      [
        chatRequest,
        'every bound of rules §3.1 and §3.2 at its value, and one beyond [invalid_request] › bytes of tool_choice',
      ],
      [chatRequest, 'what is read › tool_choice is any string, which is for the provider to know'],
    ],
  },
  '8.1/r9': {
    says: '| `response_format` | under 8 KB |',
    provedBy: [
      [specifiedClaims, 'the limits › of chat completions are those of the table, and it has no others'],
      [
        chatRequest,
        'every bound of rules §3.1 and §3.2 at its value, and one beyond [invalid_request] › %s',
        "['bytes of response_format',",
      ],
      [
        chatRequest,
        'a refusal points at the field, and says in plain words what is wrong and the rule [invalid_request] › %#: %j',
        "response_format: 'json'",
      ],
    ],
  },
  '8.1/r10': {
    says: '| messages plus forwarded parameters | at most 128,000 bytes |',
    provedBy: [
      [specifiedClaims, 'the limits › of chat completions are those of the table, and it has no others'],
      [
        chatRequest,
        'every bound of rules §3.1 and §3.2 at its value, and one beyond [invalid_request] › 128,000 bytes of messages and forwarded parameters together',
      ],
    ],
  },
  '8.1/r11': {
    says: '| `Idempotency-Key` | 8 to 128 characters; optional here |',
    provedBy: [
      [specifiedClaims, 'the limits › of chat completions are those of the table, and it has no others'],
      [readChat, 'reading a call › Idempotency-Key: %s answers %s'],
      [chatCompletions, 'a call without an idempotency key is another call each time, with a charge of its own'],
    ],
  },
  '8.2/r1': {
    says: '| nodes per flow | 50 |',
    provedBy: [
      [specifiedClaims, 'the limits › of sandbox products are those of the table, and it has no others'],
      [validateGraph, 'a flow has at most 50 nodes, 200 edges and 8 paid nodes'],
    ],
  },
  '8.2/r2': {
    says: '| edges per flow | 200 |',
    provedBy: [
      [specifiedClaims, 'the limits › of sandbox products are those of the table, and it has no others'],
      [validateGraph, 'a flow has at most 50 nodes, 200 edges and 8 paid nodes'],
    ],
  },
  '8.2/r3': {
    says: '| paid product calls per flow | 8 |',
    provedBy: [
      [specifiedClaims, 'the limits › of sandbox products are those of the table, and it has no others'],
      [validateGraph, 'a flow has at most 50 nodes, 200 edges and 8 paid nodes'],
    ],
  },
  '8.2/r4': {
    says: '| contract fields | 20 |',
    provedBy: [
      [specifiedClaims, 'the limits › of sandbox products are those of the table, and it has no others'],
      [contracts, 'a side has at most 20 fields, and a select 1 to 100 options'],
      [validateGraph, 'a side has at most 20 fields'],
    ],
  },
  '8.2/r5': {
    says: '| value size per port | 64 KB |',
    provedBy: [
      [specifiedClaims, 'the limits › of sandbox products are those of the table, and it has no others'],
      [runFreeNode, 'a value on a port has at most 64 KB as JSON [value_too_large]'],
      [contracts, 'a value has at most 64 KB as JSON and is at most 128 deep'],
      [workerNodes, 'an answer beyond 64 KB fails the node and is charged [value_too_large]'],
    ],
  },
  '8.2/r6': {
    says: '| output size per execution | 256 KB |',
    provedBy: [
      [specifiedClaims, 'the limits › of sandbox products are those of the table, and it has no others'],
      [runFreeNode, 'the output has at most 256 KB [output_too_large]'],
    ],
  },
  '8.2/r7': {
    says: '| execution time | 5 minutes |',
    provedBy: [
      [specifiedClaims, 'the limits › of sandbox products are those of the table, and it has no others'],
      [
        decideExecution,
        'one batch of items about one execution › an execution has its five minutes to the millisecond: then no node begins, and what runs is to end',
      ],
      [
        deadlineEnforcer,
        'an overdue run › tells its workers, keeps what they still end, and fails with what was charged',
      ],
      [survival, 'a call that is under way when the time of its execution is over is cancelled [execution_timeout]'],
    ],
  },
  '8.2/r8': {
    says: '| select options | 1 to 100 unique |',
    provedBy: [
      [specifiedClaims, 'the limits › of sandbox products are those of the table, and it has no others'],
      [contracts, 'a side has at most 20 fields, and a select 1 to 100 options'],
      [contracts, 'a contract is a flat object of typed fields and nothing else', "enum: ['x', 'x']"],
    ],
  },
  '8.2/r9': {
    says: '| `Idempotency-Key` (invoke and MCP tool calls) | required, 8 to 128 characters |',
    provedBy: [
      [specifiedClaims, 'the limits › of sandbox products are those of the table, and it has no others'],
      [
        readInvocation,
        'reading an invocation › needs an idempotency key, before the body is looked at [idempotency_key_required, idempotency_key_invalid]',
      ],
      [mcpClients, '$name › is told how to send the key that it left out [idempotency_key_required]'],
      [mcpClients, '$name › is told of a key that is none [idempotency_key_invalid]'],
    ],
  },
  '8.2/s1': {
    says: 'Node results persist after each node, so a restarted server resumes from completed work and does not charge again.',
    provedBy: [
      [
        claimsAndResults,
        'a result › is recorded once; told again it is the same, and under another lease it is fenced',
      ],
      [survival, 'a worker killed in the middle of a call: the node runs again and is charged once'],
      [
        flowCrashes,
        'with slices of %d ms › ${EXECUTIONS} runs survive kills of every part: each ends, and pays each of its calls once',
      ],
    ],
  },
  '8.2/s2': {
    says: 'Child calls are idempotent per execution and node.',
    provedBy: [
      [admissionsNodes, 'a node’s call › asked again under its id is the same admission, through another replica too'],
      [survival, 'a job that is delivered twice calls once'],
      [
        flowCrashes,
        'with slices of %d ms › ${EXECUTIONS} runs survive kills of every part: each ends, and pays each of its calls once',
      ],
    ],
  },
  '8.3/s1': {
    says: 'Key expiry: 1 to 365 days, default 90.',
    provedBy: [
      [specifiedClaims, 'the limits › of keys are those of the text'],
      [createKey, 'an expiry of 90 days is the default'],
      [createKey, 'a key of %j is refused: %s', '{ expiresInDays: 0 }'],
      [createKey, 'a key of %j is refused: %s', '{ expiresInDays: 366 }'],
      [createKey, 'a key of %j is at its bound and made', '{ expiresInDays: 365 }'],
    ],
  },
  '8.3/s2': {
    says: 'Key spending limit: micro-USD ceiling with a daily, weekly, monthly or lifetime window.',
    provedBy: [
      [createKey, 'a key of %j is refused: %s', "reset: 'hourly'"],
      [createKey, 'a key of %j is at its bound and made'],
      [
        keyLimits,
        'a window › that is ${reset} starts full once it has passed, and what was admitted before counts before [key_limit]',
      ],
      [keyLimits, 'a window › of a lifetime never passes [key_limit]'],
    ],
  },
  '8.3/s3': {
    says: 'There is no parent fee on an execution: each paid node (`product.chat` or media) is admitted, reserved, policy-checked and settled like a direct call, records its own usage and charges the project wallet.',
    provedBy: [
      [workerNodes, 'a flow without products runs to its end and costs nothing'],
      [workerNodes, 'a chat call is made like a direct one and charged on its usage'],
      [randomExecutions, 'random graphs › run ${name}: each ends, each node once, and the books agree'],
      [nodeCallers, 'what an execution may call › is listed, where its key lists [key_scope]'],
      [executions, 'what its nodes called is among the invocations, by no key'],
    ],
  },
  '8.3/s4': {
    says: 'Media products carry a fixed per-request price; generated bytes are kept as private assets of the project; media-only products are invoked through sandbox nodes, not through chat completions.',
    provedBy: [
      [workerNodes, 'an image and a sound become assets of the project at a fixed price'],
      [products, 'a product with %s is refused [invalid_request]', 'an image priced by tokens'],
      [assets, 'another project’s file is like none, byte for byte [asset_not_found]'],
      [nothingLeaks, 'the model list › shows published, assigned chat products and nothing else'],
    ],
  },
  '8.3/s5': {
    says: 'Request rate limits: not shown.',
    because: 'left open; rules §2.8 says when there are any',
  },
  '8.3/s6': {
    says: "Allowed value range of a key's spending limit: not shown.",
    because: 'left open; the range is in rules §6.6',
  },
} satisfies Table
