import type { Table } from '../check-table.ts'

const contracts = 'packages/flow/src/contract.test.ts'
const callableModels = 'scenarios/callable-models.scenario.ts'
const isolation = 'scenarios/isolation.scenario.ts'
const nothingLeaks = 'scenarios/nothing-leaks.scenario.ts'
const openaiClient = 'scenarios/openai-client.scenario.ts'
const refusals = 'services/gateway/src/errors/refusals.live.test.ts'
const chatWithSandbox = 'services/gateway/src/executions/chat-with-sandbox.live.test.ts'
const readInvocation = 'services/gateway/src/request/read-invocation.test.ts'
const modelsTest = 'services/gateway/src/routes/v1/models.live.test.ts'
const catalogue = 'services/ledger/src/catalogue/catalogue.live.test.ts'

export const models = {
  '4/s1': {
    says: 'All endpoints take `Authorization: Bearer <API_KEY>` (section 5).',
    provedBy: [
      [isolation, 'the gateway › ${route}${named && `, naming the ${named}`}', "nobody: '401 key_missing'"],
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
      [isolation, 'every route has a row › of the gateway'],
    ],
  },
  '4/s2': {
    says: 'Bodies are JSON.',
    provedBy: [
      [
        refusals,
        'a call is refused, reserves nothing and says what clears it › $title',
        "title: 'broken JSON [invalid_json]'",
      ],
      [readInvocation, 'reading an invocation › refuses %s [invalid_json, invalid_request]'],
    ],
  },
  '4.1/s1': {
    says: 'Request: no body, no parameters.',
    provedBy: [[modelsTest, 'the models of a key › may be none, which is an answer']],
  },
  '4.1/s2': {
    says: 'Response: list envelope of model entries (2.2).',
    provedBy: [
      [modelsTest, 'the models of a key › are those that its project can call now, with both kinds of price'],
      [openaiClient, 'the stock openai client › lists what the key can call'],
    ],
  },
  '4.1/s3': {
    says: 'Content rules:',
    because: 'introduces what follows it',
  },
  '4.1/s4': {
    says: 'The project comes from the key.',
    provedBy: [
      [catalogue, 'the models of a key › hold no flow of another project of the same organization'],
      [isolation, 'the gateway › ${route}${named && `, naming the ${named}`}', "row('GET /v1/models', '200', MISMATCH"],
    ],
  },
  '4.1/s5': {
    says: 'Only what the key can call now is returned.',
    provedBy: [[callableModels, 'what is listed can be called, and what is not listed can not']],
  },
  '4.1/s6': {
    says: "Included: published chat products assigned to the key's project, narrowed by the key's access policy (media products are excluded; they have their own interface).",
    provedBy: [
      [callableModels, 'what is listed can be called, and what is not listed can not'],
      [nothingLeaks, 'the model list › shows published, assigned chat products and nothing else'],
      [nothingLeaks, 'the model list › of a listed key is its allowlist [key_scope]'],
    ],
  },
  '4.1/s7': {
    says: "Included: the project's own sandbox products that are active, have an activated revision, and whose contract is exactly one text input and one text output.",
    provedBy: [
      [chatWithSandbox, 'a flow of one text › is in the list of models, as what it is, and other flows are not'],
      [
        catalogue,
        'the models of a key › hold the active chat-compatible flows of its project, as the specification shapes them',
      ],
      [contracts, 'a contract is chat-compatible with exactly one text in and one text out'],
    ],
  },
  '4.1/s8': {
    says: 'Never the organization-wide or global catalogue.',
    provedBy: [
      [nothingLeaks, 'the model list › shows published, assigned chat products and nothing else'],
      [callableModels, 'what is listed can be called, and what is not listed can not'],
    ],
  },
  '4.1/s9': {
    says: 'An empty `data` array is a valid answer: nothing callable is assigned to the project yet.',
    provedBy: [[modelsTest, 'the models of a key › may be none, which is an answer']],
  },
  '4.1/s10': {
    says: "It is cured by an administrator's assignment, not by retrying.",
    provedBy: [
      [modelsTest, 'the models of a key › are none until a product is assigned, however often they are asked for'],
    ],
  },
} satisfies Table
