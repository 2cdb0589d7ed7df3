import type { Table } from '../check-table.ts'

const keySecret = 'packages/contracts/src/key-secret.test.ts'
const contracts = 'packages/flow/src/contract.test.ts'
const validateGraph = 'packages/flow/src/validate-graph.test.ts'
const price = 'packages/money/src/price.test.ts'
const openProviders = 'packages/providers/src/open-providers.live.test.ts'
const callableModels = 'scenarios/callable-models.scenario.ts'
const idempotencyScope = 'scenarios/idempotency-scope.scenario.ts'
const keyAttacks = 'scenarios/key-attacks.scenario.ts'
const mcpClients = 'scenarios/mcp-clients.scenario.ts'
const noOverspend = 'scenarios/no-overspend.scenario.ts'
const nothingLeaks = 'scenarios/nothing-leaks.scenario.ts'
const openaiClient = 'scenarios/openai-client.scenario.ts'
const resolutions = 'scenarios/resolutions.scenario.ts'
const specifiedClaims = 'scenarios/spec/specified-claims.test.ts'
const stockClients = 'scenarios/stock-clients.scenario.ts'
const createKey = 'services/console/src/keys/create-key.live.test.ts'
const money = 'services/console/src/money/money.live.test.ts'
const sandboxes = 'services/console/src/sandboxes/sandboxes.live.test.ts'
const refusals = 'services/gateway/src/errors/refusals.live.test.ts'
const chatWithSandbox = 'services/gateway/src/executions/chat-with-sandbox.live.test.ts'
const chatCompletions = 'services/gateway/src/routes/v1/chat-completions.live.test.ts'
const key = 'services/gateway/src/routes/v1/key.live.test.ts'
const invoke = 'services/gateway/src/routes/v1/sandbox/invoke.live.test.ts'
const nodeCallers = 'services/ledger/src/admissions/node-callers.live.test.ts'
const admissionsNodes = 'services/ledger/src/admissions/nodes.live.test.ts'
const reserveAndSettle = 'services/ledger/src/admissions/reserve-and-settle.live.test.ts'
const workerNodes = 'services/worker/src/nodes.live.test.ts'

export const whatTheServiceDoes = {
  '0/s1': {
    says: 'This document covers the whole service: key-authenticated model listing, chat completions, private sandbox products (flows) with their HTTP and MCP invocation, and key handling.',
    because: 'says what the document is about',
  },
  '0/s2': {
    says: 'It is the only document.',
    because: 'says what the document is',
  },
  '0/s3': {
    says: "Naming note: identifiers that would carry the maker's name use the neutral word `service` or `svc` instead: the key prefix is `svc_`, the project selector header is `X-Service-Project`, the invocation header is `X-Service-Invocation`, and the extension object in responses is named `service`.",
    provedBy: [
      [keySecret, 'a secret is its prefix, 43 characters of the random bytes and 6 of checksum'],
      [
        chatCompletions,
        'a chat call that is answered in one piece › is charged for its usage to the micro-USD, and nothing stays reserved afterwards',
      ],
      [
        refusals,
        'a call is refused, reserves nothing and says what clears it › $title',
        'another project in a header [project_mismatch]',
      ],
      [
        chatWithSandbox,
        'a flow of one text › answers a chat like a model, and says which execution it was and what that cost',
      ],
    ],
  },
  '0/s4': {
    says: "Addresses: `{base_url}` is the service's base address; all paths below are relative to it.",
    provedBy: [
      [specifiedClaims, 'the endpoints › that the headings name are served'],
      [openaiClient, 'the stock openai client › lists what the key can call'],
    ],
  },
  '1/s1': {
    says: 'A gateway through which callers use hosted text models, and private executable flows, with a bearer key.',
    provedBy: [
      [openaiClient, 'the stock openai client › completes, and the wallet is charged to the micro-USD'],
      [
        invoke,
        'an invocation › is answered with the record of its execution, which is named in a header and can be read again',
      ],
      [
        refusals,
        'a call is refused, reserves nothing and says what clears it › $title',
        "title: 'no key [key_missing]'",
      ],
      [
        refusals,
        'a call is refused, reserves nothing and says what clears it › $title',
        "title: 'a malformed key [key_invalid]'",
      ],
    ],
  },
  '1/s2': {
    says: 'Every key is bound for life to exactly one project.',
    provedBy: [
      [
        keyAttacks,
        'the binding of a key › is for life: no column that says what a key may do can be changed, by the console’s role or the owner’s',
      ],
      [keyAttacks, 'the binding of a key › has no route that changes it [method_not_allowed]'],
      [createKey, 'a key is bound to its project, shows its secret once, and only its hash is stored'],
    ],
  },
  '1/s3': {
    says: 'The project is the execution and charging context: usage, spending limits and the project wallet all attach to it.',
    provedBy: [
      [money, 'usage adds up by model, key and day, and leaves out what is open or released'],
      [money, 'a call is seen open, then settled, with the price it was admitted at'],
      [
        idempotencyScope,
        'a repeat under the same idempotency key › in another project ${where} is another call, charged there',
      ],
      [createKey, 'a key is bound to its project, shows its secret once, and only its hash is stored'],
    ],
  },
  '1/s4': {
    says: 'Model calls use a chat-completions wire format that common client libraries speak; pointing such a client at `{base_url}/v1` works, with no extra headers.',
    provedBy: [
      [stockClients, '$name › completes, and is charged what it is told'],
      [openaiClient, 'the stock openai client › lists what the key can call'],
      [openaiClient, 'the stock openai client › streams, with the usage at the end on request'],
    ],
  },
  '1/s5': {
    says: "`GET /v1/models` lists only what the calling key can call right now (the project's set, not a catalogue).",
    provedBy: [
      [callableModels, 'what is listed can be called, and what is not listed can not'],
      [nothingLeaks, 'the model list › shows published, assigned chat products and nothing else'],
    ],
  },
  '1/s6': {
    says: 'A sandbox product is a private flow owned by one project: a named input/output contract plus a graph of typed nodes.',
    provedBy: [
      [sandboxes, 'only an explicit grant to consume reaches it: to all others it never was [sandbox_not_found]'],
      [contracts, 'a contract is a flat object of typed fields and nothing else'],
      [validateGraph, 'nodes have the fields of their kind, and notes'],
    ],
  },
  '1/s7': {
    says: 'Its nodes call products already assigned to that project, through the same admission and charging path as direct calls.',
    provedBy: [
      [resolutions, 'what clears a refusal › ${resolution.source} [${code}]', 'to assign the product to the project'],
      [nodeCallers, 'what an execution may call › is assigned and published [product_not_assigned]'],
      [workerNodes, 'a chat call is made like a direct one and charged on its usage'],
      [admissionsNodes, 'a node’s call › beside direct calls of its key, shares the window of the lineage [key_limit]'],
    ],
  },
  '1/s8': {
    says: 'It can be invoked over HTTP or, if enabled, over MCP.',
    provedBy: [
      [
        invoke,
        'an invocation › is answered with the record of its execution, which is named in a header and can be read again',
      ],
      [mcpClients, '$name › calls it, and gets values that fit the schema and a text of them'],
      [mcpClients, '$name › is not let in where MCP is not enabled [mcp_disabled]'],
    ],
  },
  '1/s9': {
    says: 'Money is reserved at admission and settled afterwards.',
    provedBy: [
      [key, 'who am I › shows what is reserved while a call runs, and what it was charged after it'],
      [reserveAndSettle, 'closing › charges the usage, gives back the rest, and once only'],
      [
        chatCompletions,
        'a chat call that is answered in one piece › is charged for its usage to the micro-USD, and nothing stays reserved afterwards',
      ],
    ],
  },
  '1/s10': {
    says: 'A call refused before reaching a provider is never charged.',
    provedBy: [
      [refusals, 'a call is refused, reserves nothing and says what clears it › $title'],
      [
        invoke,
        'what is refused begins no execution and charges nothing › with an input of the wrong type or a choice that there is not [input_type]',
      ],
      [
        noOverspend,
        'no overspend › ${CALLERS} calls on a wallet that holds ${FIT} admit exactly ${FIT} [insufficient_budget]',
      ],
    ],
  },
  '1/s11': {
    says: 'The model, never the provider or origin behind it, is what responses report.',
    provedBy: [
      [nothingLeaks, "no answer shows the provider › ${what}${stream ? ', streamed' : ''}"],
      [openProviders, '%s › what is answered › nothing that tells which provider it was'],
      [
        chatCompletions,
        'a chat call that is answered in one piece › is charged for its usage to the micro-USD, and nothing stays reserved afterwards',
      ],
    ],
  },
  '1/s12': {
    says: 'Amounts in limits and charges are in micro-USD (millionths of a US dollar) where a field says so.',
    provedBy: [
      [createKey, 'a key is bound to its project, shows its secret once, and only its hash is stored'],
      [price, 'what a call costs › is the exact price, rounded up once to whole micro-USD'],
      [
        invoke,
        'an invocation › is answered with the record of its execution, which is named in a header and can be read again',
      ],
    ],
  },
} satisfies Table
