import type { Table } from '../check-table.ts'

const chatRequest = 'packages/contracts/src/chat-request.test.ts'
const contracts = 'packages/flow/src/contract.test.ts'
const callableModels = 'scenarios/callable-models.scenario.ts'
const failover = 'scenarios/failover.scenario.ts'
const idempotencyScope = 'scenarios/idempotency-scope.scenario.ts'
const idempotency = 'scenarios/idempotency.scenario.ts'
const invocationThread = 'scenarios/invocation-thread.scenario.ts'
const isolation = 'scenarios/isolation.scenario.ts'
const nothingLeaks = 'scenarios/nothing-leaks.scenario.ts'
const openaiClient = 'scenarios/openai-client.scenario.ts'
const revocation = 'scenarios/revocation.scenario.ts'
const exactCountBusy = 'services/gateway/src/admission/exact-count-busy.live.test.ts'
const exactCount = 'services/gateway/src/admission/exact-count.live.test.ts'
const manyPrompts = 'services/gateway/src/admission/many-prompts.live.test.ts'
const refusals = 'services/gateway/src/errors/refusals.live.test.ts'
const chatWithSandbox = 'services/gateway/src/executions/chat-with-sandbox.live.test.ts'
const readChat = 'services/gateway/src/request/read-chat.test.ts'
const chatCompletionsTest = 'services/gateway/src/routes/v1/chat-completions.live.test.ts'
const admissionBatcher = 'services/ledger/src/admissions/admission-batcher.live.test.ts'

export const chatCompletions = {
  '4.2/s1': {
    says: 'Request body:',
    because: 'introduces what follows it',
  },
  '4.2/r1': {
    says: '| `model` | string | required; an id from `/v1/models` (a product or a chat-compatible sandbox product) |',
    provedBy: [
      [
        chatRequest,
        'a refusal points at the field, and says in plain words what is wrong and the rule [invalid_request] › %#: %j',
        'model is missing',
      ],
      [callableModels, 'what is listed can be called, and what is not listed can not'],
      [
        chatWithSandbox,
        'a flow of one text › answers a chat like a model, and says which execution it was and what that cost',
      ],
    ],
  },
  '4.2/r2': {
    says: '| `messages` | array | required; 1 to 100 messages; roles `system`, `user`, `assistant`, `tool` |',
    provedBy: [
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
  '4.2/r3': {
    says: '| `stream` | boolean | optional |',
    provedBy: [
      [chatRequest, 'what is read › the fields of their own'],
      [
        chatRequest,
        'a refusal points at the field, and says in plain words what is wrong and the rule [invalid_request] › %#: %j',
        "stream: 'yes'",
      ],
      [
        chatCompletionsTest,
        'a chat call that is streamed › sends chunks of its own making, and ends with [DONE] after it was charged',
      ],
    ],
  },
  '4.2/r4': {
    says: '| `stream_options` | object | optional |',
    provedBy: [
      [chatRequest, 'what is read › the fields of their own'],
      [
        chatCompletionsTest,
        'a chat call that is streamed › tells its usage in a last chunk where asked to, and null before',
      ],
    ],
  },
  '4.2/r5': {
    says: "| `max_tokens` | integer | 0 to 8192 and no more than the model's `max_output_tokens` |",
    provedBy: [
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
  '4.2/r6': {
    says: '| `temperature` | number | 0 to 2 |',
    provedBy: [
      [
        chatRequest,
        'every bound of rules §3.1 and §3.2 at its value, and one beyond [invalid_request] › %s',
        "['temperature',",
      ],
    ],
  },
  '4.2/r7': {
    says: '| `top_p` | number | greater than 0, at most 1 |',
    provedBy: [
      [
        chatRequest,
        'every bound of rules §3.1 and §3.2 at its value, and one beyond [invalid_request] › %s',
        "['top_p',",
      ],
    ],
  },
  '4.2/r8': {
    says: '| `n` | integer | must be 1 (one completion is charged per request) |',
    provedBy: [
      [chatRequest, 'every bound of rules §3.1 and §3.2 at its value, and one beyond [invalid_request] › %s', "['n',"],
    ],
  },
  '4.2/r9': {
    says: '| `seed` | integer | optional |',
    provedBy: [
      [
        chatRequest,
        'every bound of rules §3.1 and §3.2 at its value, and one beyond [invalid_request] › %s',
        "['seed',",
      ],
    ],
  },
  '4.2/r10': {
    says: '| `stop` | string or array | up to 4 sequences, each 1 to 64 characters |',
    provedBy: [
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
  '4.2/r11': {
    says: '| `tools` | array | up to 64 definitions, under 32 KB in total |',
    provedBy: [
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
  '4.2/r12': {
    says: '| `tool_choice` | string or object | under 2 KB |',
    provedBy: [
      [
        chatRequest,
        'every bound of rules §3.1 and §3.2 at its value, and one beyond [invalid_request] › bytes of tool_choice',
      ],
      [chatRequest, 'what is read › tool_choice is any string, which is for the provider to know'],
    ],
  },
  '4.2/r13': {
    says: '| `response_format` | object | under 8 KB |',
    provedBy: [
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
  '4.2/r14': {
    says: "| `project_id` | string | may only restate the key's bound project |",
    provedBy: [
      [
        refusals,
        'a call is refused, reserves nothing and says what clears it › $title',
        "title: 'of another project [project_mismatch]'",
      ],
      [
        chatCompletionsTest,
        'a call under an idempotency key › is answered again byte for byte, under the same invocation, charged once',
        'project_id: tenant.project',
      ],
    ],
  },
  '4.2/s2': {
    says: 'Message rules: a `tool` message carries the `tool_call_id` it answers; an `assistant` message may carry `tool_calls` and, where the provider returns it, reasoning history (`reasoning_content` or `reasoning`).',
    provedBy: [
      [chatRequest, 'what is read › messages of every role with every field we answer with'],
      [
        chatRequest,
        'a refusal points at the field, and says in plain words what is wrong and the rule [invalid_request] › %#: %j',
        "messages: [{ role: 'tool', content: 'x' }]",
      ],
      [failover, 'the same product in two wire formats › reasoning, whole and streamed, and taken back'],
      [openaiClient, 'the stock openai client › calls a tool in two rounds, each charged'],
    ],
  },
  '4.2/s3': {
    says: 'Bound rules:',
    because: 'introduces what follows it',
  },
  '4.2/s4': {
    says: 'Messages plus all forwarded parameters together must not exceed 128,000 bytes (forwarded fields count toward this bound).',
    provedBy: [
      [
        chatRequest,
        'every bound of rules §3.1 and §3.2 at its value, and one beyond [invalid_request] › 128,000 bytes of messages and forwarded parameters together',
      ],
    ],
  },
  '4.2/s5': {
    says: "The whole request must fit the model's published context and output limits; otherwise 422 `context_limit`.",
    provedBy: [
      [
        exactCount,
        "a prompt of more bytes than tokens › fits a context that its tokens fit, to the token${stream ? ', streamed' : ''} [context_limit]",
      ],
      [
        refusals,
        'a call is refused, reserves nothing and says what clears it › $title',
        'more output than the model has',
      ],
      [
        exactCount,
        'a prompt of more bytes than tokens › is never refused because counting is busy, alike or different',
      ],
      [exactCountBusy, 'what a count could have turned is asked to come again, and nothing of it stays [overloaded]'],
      [manyPrompts, '${CALLS} prompts of 12 KB to a model of 16k tokens are all answered'],
      [
        chatWithSandbox,
        'a flow of one text › takes as many tokens as it publishes, and refuses a longer text as every model does [context_limit]',
      ],
    ],
  },
  '4.2/s6': {
    says: 'Model resolution:',
    because: 'introduces what follows it',
  },
  '4.2/s7': {
    says: "A published product assigned to the key's project, or",
    provedBy: [
      [callableModels, 'what is listed can be called, and what is not listed can not'],
      [openaiClient, 'the stock openai client › completes, and the wallet is charged to the micro-USD'],
    ],
  },
  '4.2/s8': {
    says: 'a chat-compatible sandbox product of the project (deployed flow whose contract is exactly one text input and one text output).',
    provedBy: [
      [
        chatWithSandbox,
        'a flow of one text › answers a chat like a model, and says which execution it was and what that cost',
      ],
      [contracts, 'a contract is chat-compatible with exactly one text in and one text out'],
    ],
  },
  '4.2/s9': {
    says: 'The reply is a normal completion whose `service` object carries the sandbox execution id, the project and `charged_micro`.',
    provedBy: [
      [
        chatWithSandbox,
        'a flow of one text › answers a chat like a model, and says which execution it was and what that cost',
      ],
    ],
  },
  '4.2/s10': {
    says: 'With `stream: true` the whole text arrives as a single chunk.',
    provedBy: [
      [
        chatWithSandbox,
        'a flow of one text › streams its text in one chunk, and the last chunk says what the execution was',
      ],
    ],
  },
  '4.2/s11': {
    says: 'A sandbox product with any other contract: 422 `sandbox_contract` (use the invoke endpoint).',
    provedBy: [
      [chatWithSandbox, 'what is no model of the caller › is a flow with another contract [sandbox_contract]'],
    ],
  },
  '4.2/s12': {
    says: 'Eligibility is re-checked inside the admission transaction.',
    provedBy: [
      [
        admissionBatcher,
        'locks › facts are those of after the lock: a revocation committed while the batch waits is seen [key_revoked]',
      ],
      [revocation, 'a revocation answers only once no admission is under way that read what was true before'],
    ],
  },
  '4.2/s13': {
    says: "An id not callable by the project now (draft, suspended deployment, removed assignment, another project's resource) gives 404 `model_not_found`.",
    provedBy: [
      [
        chatWithSandbox,
        'what is no model of the caller › is another project’s flow, a draft, a suspended one and none, all alike [model_not_found]',
      ],
      [callableModels, 'what is listed can be called, and what is not listed can not'],
      [
        revocation,
        'none of ${CALLS} calls is admitted that starts after its right has ended [key_revoked] [key_issuer_denied] [model_not_found]',
      ],
      [
        isolation,
        'the gateway › ${route}${named && `, naming the ${named}`}',
        "row('POST /v1/chat/completions', '200', NO_MODEL, { body: chat })",
      ],
    ],
  },
  '4.2/s14': {
    says: "An eligible resource excluded by the key's allowlist gives 403 `key_scope`.",
    provedBy: [
      [nothingLeaks, 'the model list › of a listed key is its allowlist [key_scope]'],
      [callableModels, 'what is listed can be called, and what is not listed can not'],
      [
        chatWithSandbox,
        'what is no model of the caller › is a flow that the key does not list with all that it calls [key_scope]',
      ],
    ],
  },
  '4.2/s15': {
    says: 'Idempotency: header `Idempotency-Key` is optional, 8 to 128 characters.',
    provedBy: [
      [readChat, 'reading a call › Idempotency-Key: %s answers %s'],
      [chatCompletionsTest, 'a call without an idempotency key is another call each time, with a charge of its own'],
    ],
  },
  '4.2/s16': {
    says: 'Repeating a key replays the saved answer with no second reservation.',
    provedBy: [
      [
        chatCompletionsTest,
        'a call under an idempotency key › is answered again byte for byte, under the same invocation, charged once',
      ],
      [chatCompletionsTest, 'a chat call that is streamed › is replayed with the same events'],
      [
        idempotency,
        "one idempotency key › ${COPIES} copies at once of a ${stream ? 'stream' : 'call'} reach the provider once, charge once and get the same bytes",
      ],
      [idempotencyScope, 'a repeat under the same idempotency key › needs no money, and no room in the window'],
    ],
  },
  '4.2/s17': {
    says: 'Omitting it admits a new, separately charged invocation on every retry.',
    provedBy: [
      [chatCompletionsTest, 'a call without an idempotency key is another call each time, with a charge of its own'],
      [
        chatWithSandbox,
        'a flow of one text › answers a repeat under an idempotency key with the same bytes, and without one executes again',
      ],
    ],
  },
  '4.2/s18': {
    says: 'Response: chat-completion shape with `choices` and `usage`; header `X-Service-Invocation` carries the invocation id (the thread through usage, charges and support).',
    provedBy: [
      [
        chatCompletionsTest,
        'a chat call that is answered in one piece › is charged for its usage to the micro-USD, and nothing stays reserved afterwards',
      ],
      [invocationThread, 'the invocation that an answer names is the call that is shown, counted and charged'],
    ],
  },
} satisfies Table
