import type { Table } from '../check-table.ts'

const chatImages = 'packages/contracts/src/chat-images.test.ts'
const keySecret = 'packages/contracts/src/key-secret.test.ts'
const contracts = 'packages/flow/src/contract.test.ts'
const packages = 'packages/flow/src/package.test.ts'
const runFreeNode = 'packages/flow/src/run-free-node.test.ts'
const validateGraph = 'packages/flow/src/validate-graph.test.ts'
const price = 'packages/money/src/price.test.ts'
const forwardedFor = 'packages/providers/src/forwarded-for.test.ts'
const callableModels = 'scenarios/callable-models.scenario.ts'
const canary = 'scenarios/canary.scenario.ts'
const pageInABrowser = 'scenarios/console.scenario.ts'
const keyAttacks = 'scenarios/key-attacks.scenario.ts'
const keyLimits = 'scenarios/key-limits.scenario.ts'
const mcpClients = 'scenarios/mcp-clients.scenario.ts'
const nothingLeaks = 'scenarios/nothing-leaks.scenario.ts'
const privateSandbox = 'scenarios/private-sandbox.scenario.ts'
const resolutions = 'scenarios/resolutions.scenario.ts'
const products = 'services/console/src/catalogue/products.live.test.ts'
const createKey = 'services/console/src/keys/create-key.live.test.ts'
const rotateKey = 'services/console/src/keys/rotate-key.live.test.ts'
const permissions = 'services/console/src/permissions/permissions.test.ts'
const revisions = 'services/console/src/sandboxes/revisions.live.test.ts'
const sandboxes = 'services/console/src/sandboxes/sandboxes.live.test.ts'
const refusals = 'services/gateway/src/errors/refusals.live.test.ts'
const chatWithSandbox = 'services/gateway/src/executions/chat-with-sandbox.live.test.ts'
const chatCompletions = 'services/gateway/src/routes/v1/chat-completions.live.test.ts'
const key = 'services/gateway/src/routes/v1/key.live.test.ts'
const models = 'services/gateway/src/routes/v1/models.live.test.ts'
const invokeProgress = 'services/gateway/src/routes/v1/sandbox/invoke-progress.live.test.ts'
const invoke = 'services/gateway/src/routes/v1/sandbox/invoke.live.test.ts'
const catalogue = 'services/ledger/src/catalogue/catalogue.live.test.ts'
const packageCache = 'services/ledger/src/executions/cache/package-cache.live.test.ts'
const randomExecutions = 'services/ledger/src/executions/nodes/random-executions.live.test.ts'
const workerImages = 'services/worker/src/images.live.test.ts'
const nodes = 'services/worker/src/nodes.live.test.ts'
const survival = 'services/worker/src/survival.live.test.ts'

export const resources = {
  '2.1/r1': {
    says: '| Secret format | prefix `svc_` followed by a random token |',
    provedBy: [
      [createKey, 'a key is bound to its project, shows its secret once, and only its hash is stored'],
      [keySecret, 'a secret is its prefix, 43 characters of the random bytes and 6 of checksum'],
      [keySecret, 'a hundred thousand secrets, and no two alike'],
    ],
  },
  '2.1/r2': {
    says: '| Shown | the full secret once, at creation; later views show only the prefix |',
    provedBy: [
      [createKey, 'a key is bound to its project, shows its secret once, and only its hash is stored'],
      [canary, 'a secret is nowhere but in the answer that shows it once'],
    ],
  },
  '2.1/r3': {
    says: '| Stored | only the SHA-256 hash of the secret |',
    provedBy: [
      [createKey, 'a key is bound to its project, shows its secret once, and only its hash is stored'],
      [canary, 'a secret is nowhere but in the answer that shows it once'],
    ],
  },
  '2.1/r4': {
    says: '| Project | required at creation (omitted gives 422 `project_required`); bound permanently |',
    provedBy: [
      [createKey, 'a key of %j is refused: %s', "[{}, '422 project_required', 'project']"],
      [
        keyAttacks,
        'the binding of a key › is for life: no column that says what a key may do can be changed, by the console’s role or the owner’s',
      ],
    ],
  },
  '2.1/r5': {
    says: '| Access policy | `all-eligible` (default; every resource the project can reach, including ones added later) or `listed` (explicit allowlist of resource ids, each must be an eligible resource of the project, else 422 `resource_not_eligible`) |',
    provedBy: [
      [createKey, 'a key is bound to its project, shows its secret once, and only its hash is stored'],
      [
        resolutions,
        'what clears a refusal › ${resolution.source} [${code}]',
        'Ask somebody who has the role Admin of the organization',
      ],
      [createKey, 'an allowlist names assigned, published products alone [resource_not_eligible]'],
      [sandboxes, 'a key may list sandbox products of its own project, and of no other [resource_not_eligible]'],
      [
        models,
        'the models of a key › grow with what the project gets later, but for a key that lists what it may call',
      ],
    ],
  },
  '2.1/r6': {
    says: '| Spending limit | optional ceiling in micro-USD with `reset` one of `daily`, `weekly`, `monthly`, `lifetime` |',
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
  '2.1/r7': {
    says: '| Expiry | 1 to 365 days; default 90 |',
    provedBy: [
      [createKey, 'an expiry of 90 days is the default'],
      [createKey, 'a key of %j is refused: %s', '{ expiresInDays: 0 }'],
      [createKey, 'a key of %j is refused: %s', '{ expiresInDays: 366 }'],
      [createKey, 'a key of %j is at its bound and made', '{ expiresInDays: 365 }'],
    ],
  },
  '2.1/r8': {
    says: '| Lineage | `rotatedFrom` / `rotatedTo` link a key to its replacement |',
    provedBy: [[rotateKey, 'a replacement keeps everything but the secret, and the lineage says so']],
  },
  '2.1/r9': {
    says: '| Legacy key | a key created before project binding is unbound; console shows it as Needs reissue |',
    provedBy: [
      [rotateKey, 'a legacy key needs reissue and is never rotated [key_not_active]'],
      [
        key,
        'who am I › is refused as a call would be, with the same bytes [key_revoked, key_expired, key_unbound, key_issuer_denied, project_mismatch]',
      ],
      [pageInABrowser, 'keys from before keys were bound to projects come first, until they are revoked'],
    ],
  },
  '2.1/s1': {
    says: 'Other fields of the key record: not shown.',
    because: 'left open; the record is in rules §6.3',
  },
  '2.1/s2': {
    says: 'A key can only be narrowed at creation (policy, limit, expiry); it can never be given more rights than its project and creator hold.',
    provedBy: [
      [
        keyAttacks,
        'the binding of a key › is for life: no column that says what a key may do can be changed, by the console’s role or the owner’s',
      ],
      [keyAttacks, 'the body that creates a key › makes exactly the key that it asks for, its maker’s, or none'],
      [callableModels, 'what is listed can be called, and what is not listed can not'],
      [permissions, 'the issuer rule [key_issuer_denied] › fails with %j'],
    ],
  },
  '2.2/r1': {
    says: '| `id` | string, stable; used verbatim as `model` in chat completions |',
    provedBy: [
      [callableModels, 'what is listed can be called, and what is not listed can not'],
      [products, 'a patch changes what it names and nothing else [not_found]'],
    ],
  },
  '2.2/r2': {
    says: '| `object` | string, the value `model` |',
    provedBy: [[models, 'the models of a key › say of a product what is stored of it, field by field']],
  },
  '2.2/r3': {
    says: '| `created` | integer, Unix seconds |',
    provedBy: [[models, 'the models of a key › say of a product what is stored of it, field by field']],
  },
  '2.2/r4': {
    says: '| `name` | string |',
    provedBy: [[models, 'the models of a key › say of a product what is stored of it, field by field']],
  },
  '2.2/r5': {
    says: '| `description` | string |',
    provedBy: [[models, 'the models of a key › say of a product what is stored of it, field by field']],
  },
  '2.2/r6': {
    says: "| `owned_by` | string (for a sandbox entry, the project's name) |",
    provedBy: [
      [models, 'the models of a key › say of a product what is stored of it, field by field'],
      [
        catalogue,
        'the models of a key › hold the active chat-compatible flows of its project, as the specification shapes them',
      ],
    ],
  },
  '2.2/r7': {
    says: '| `modality` | string such as `text->text` |',
    provedBy: [[models, 'the models of a key › say of a product what is stored of it, field by field']],
  },
  '2.2/r8': {
    says: '| `context_length` | integer |',
    provedBy: [[models, 'the models of a key › say of a product what is stored of it, field by field']],
  },
  '2.2/r9': {
    says: '| `max_output_tokens` | integer |',
    provedBy: [[models, 'the models of a key › say of a product what is stored of it, field by field']],
  },
  '2.2/r10': {
    says: '| `architecture` | object: `modality` (string), `input_modalities` (array of string), `output_modalities` (array of string) |',
    provedBy: [[models, 'the models of a key › say of a product what is stored of it, field by field']],
  },
  '2.2/r11': {
    says: '| `top_provider` | object: `context_length` (integer), `max_completion_tokens` (integer), `is_moderated` (boolean) |',
    provedBy: [[models, 'the models of a key › say of a product what is stored of it, field by field']],
  },
  '2.2/r12': {
    says: '| `supported_parameters` | array of request parameter names the model accepts |',
    provedBy: [
      [models, 'the models of a key › say of a product what is stored of it, field by field'],
      [
        forwardedFor,
        'temperature, top_p and seed are left out where the model does not take them, and nothing else is',
      ],
      [
        refusals,
        'a call is refused, reserves nothing and says what clears it › $title',
        'a parameter that the model lacks',
      ],
    ],
  },
  '2.2/r13': {
    says: '| `pricing` | object, two shapes by `unit` (below) |',
    provedBy: [
      [models, 'the models of a key › say of a product what is stored of it, field by field'],
      [models, 'the models of a key › are those that its project can call now, with both kinds of price'],
    ],
  },
  '2.2/r14': {
    says: '| `service` | only on sandbox entries: object with `kind` (the value `sandbox`), `revision` (integer), `invoke` (path `/v1/sandbox/<sandbox_id>/invoke`) |',
    provedBy: [
      [models, 'the models of a key › say of a product what is stored of it, field by field'],
      [chatWithSandbox, 'a flow of one text › is in the list of models, as what it is, and other flows are not'],
    ],
  },
  '2.2/s1': {
    says: 'Pricing shapes:',
    because: 'introduces what follows it',
  },
  '2.2/r15': {
    says: '| `tokens` | `prompt`, `completion`: decimal strings, USD per token; `input_usd_per_1m`, `output_usd_per_1m`: numbers, USD per million tokens |',
    provedBy: [[models, 'the models of a key › say of a product what is stored of it, field by field']],
  },
  '2.2/r16': {
    says: '| `request` | `request`: USD per successful call; `usd_per_request` |',
    provedBy: [
      [models, 'the models of a key › are those that its project can call now, with both kinds of price'],
      [price, 'what a call costs › a call priced by request costs that, whatever its tokens'],
    ],
  },
  '2.2/r17': {
    says: '| `execution` (sandbox entries) | `prompt`, `completion`, `request` all the string zero; the sandbox is charged per execution through its dependency calls |',
    provedBy: [
      [chatWithSandbox, 'a flow of one text › is in the list of models, as what it is, and other flows are not'],
      [
        chatWithSandbox,
        'a flow of one text › answers a chat like a model, and says which execution it was and what that cost',
      ],
    ],
  },
  '2.2/s2': {
    says: 'Provider-side wholesale rates are never included.',
    provedBy: [
      [models, 'the models of a key › say of a product what is stored of it, field by field'],
      [nothingLeaks, 'the model list › shows published, assigned chat products and nothing else'],
    ],
  },
  '2.2/s3': {
    says: 'Sandbox ids start with `sbx-`.',
    provedBy: [
      [sandboxes, 'a sandbox product begins empty, is changed field by field, and is listed with its project'],
      [products, 'a product with %s is refused [invalid_request]', 'an id of a sandbox'],
    ],
  },
  '2.2/s4': {
    says: 'List envelope: object with `object` (value `list`) and `data` (array of entries).',
    provedBy: [
      [models, 'the models of a key › may be none, which is an answer'],
      [models, 'the models of a key › are those that its project can call now, with both kinds of price'],
    ],
  },
  '2.3/s1': {
    says: 'Owned by exactly one project.',
    provedBy: [
      [sandboxes, '%s %j is refused by its field [invalid_request]', "project: 'prj_other'"],
      [sandboxes, 'only an explicit grant to consume reaches it: to all others it never was [sandbox_not_found]'],
      [
        invoke,
        'what is refused begins no execution and charges nothing › of another project like of none, byte for byte [sandbox_not_found]',
      ],
    ],
  },
  '2.3/s2': {
    says: 'Never enters any organization or global catalogue; it appears in `/v1/models` only when chat-compatible (section 4.2).',
    provedBy: [
      [privateSandbox, 'creating, saving, activating and executing one publishes nothing'],
      [chatWithSandbox, 'a flow of one text › is in the list of models, as what it is, and other flows are not'],
      [catalogue, 'the models of a key › hold no flow of another project of the same organization'],
    ],
  },
  '2.3/s3': {
    says: 'Creating, saving or running one publishes nothing.',
    provedBy: [[privateSandbox, 'creating, saving, activating and executing one publishes nothing']],
  },
  '2.3/s4': {
    says: 'Contract: a JSON Schema subset.',
    provedBy: [
      [contracts, 'a contract is a flat object of typed fields and nothing else'],
      [contracts, 'the validator agrees with Ajv on 100,000 pairs of schema and value'],
    ],
  },
  '2.3/s5': {
    says: 'An object whose properties are typed `string`, `number`, `boolean` or `object`, plus a `required` list.',
    provedBy: [
      [contracts, 'a contract is a flat object of typed fields and nothing else'],
      [contracts, 'every field at fault is told'],
    ],
  },
  '2.3/s6': {
    says: 'No nesting, no combinators, no `$ref`.',
    provedBy: [
      [contracts, 'a contract is a flat object of typed fields and nothing else', "{ $ref: '#/x' }"],
      [contracts, 'a contract is a flat object of typed fields and nothing else', "{ type: 'object', properties: {} }"],
      [contracts, 'a contract is a flat object of typed fields and nothing else', 'allOf: []'],
      [contracts, 'a contract is a flat object of typed fields and nothing else', 'anyOf: []'],
    ],
  },
  '2.3/s7': {
    says: 'Image and audio references: `object` properties with `format` of `image` or `audio`.',
    provedBy: [
      [contracts, 'an image or a sound is an asset'],
      [contracts, 'a contract is a flat object of typed fields and nothing else'],
      [chatImages, 'a product takes › images as large as it says, and as many'],
      [validateGraph, 'images that products make fit into the chat that they are led to'],
      [workerImages, 'images of the project go to a chat as data, whatever is said of them'],
      [workerImages, 'an image of %i bytes is drawn, led to a chat, seen there byte for byte, and paid for twice'],
    ],
  },
  '2.3/s8': {
    says: 'Select field: a `string` property with an `enum` of 1 to 100 unique options.',
    provedBy: [
      [contracts, 'a side has at most 20 fields, and a select 1 to 100 options'],
      [contracts, 'a contract is a flat object of typed fields and nothing else', "enum: ['x', 'x']"],
    ],
  },
  '2.3/s9': {
    says: 'A value outside the list gives 422 `input_type` before any charge.',
    provedBy: [
      [
        invoke,
        'what is refused begins no execution and charges nothing › with an input of the wrong type or a choice that there is not [input_type]',
      ],
      [mcpClients, '$name › is told what is wrong with an input, and is charged nothing [input_type]'],
    ],
  },
  '2.3/s10': {
    says: 'An empty string counts as not supplied.',
    provedBy: [[contracts, 'an optional field that is left out, null or an empty select is null']],
  },
  '2.3/s11': {
    says: 'A select may carry `format` of `voice`, `aspect_ratio`, `resolution` or `duration`; this is an annotation only and changes no validation.',
    provedBy: [
      [contracts, 'the formats of a select change nothing'],
      [contracts, 'the validator agrees with Ajv on 100,000 pairs of schema and value'],
    ],
  },
  '2.3/s12': {
    says: 'Graph: typed nodes and edges.',
    provedBy: [
      [validateGraph, 'nodes have the fields of their kind, and notes'],
      [validateGraph, 'an edge joins equal types'],
      [validateGraph, 'edges join ports that exist'],
    ],
  },
  '2.3/s13': {
    says: 'Paid nodes are `product.chat` and media nodes.',
    provedBy: [
      [validateGraph, 'a flow has at most 50 nodes, 200 edges and 8 paid nodes'],
      [nodes, 'an image and a sound become assets of the project at a fixed price'],
      [nodes, 'a chat call is made like a direct one and charged on its usage'],
      [nodes, 'a flow without products runs to its end and costs nothing'],
    ],
  },
  '2.3/s14': {
    says: 'Other node kinds exist (templates, branches, expressions) but are not enumerated.',
    provedBy: [[runFreeNode, 'a template, an expression, a constant and a branch give values by port']],
  },
  '2.3/s15': {
    says: 'Revision: immutable saved snapshot of a flow.',
    provedBy: [
      [revisions, 'an earlier revision is never changed by a later save'],
      [
        revisions,
        'a revision that an earlier release has saved and activated stays as it is when this one activates it',
      ],
      [revisions, 'what an author writes comes back as it was saved, whatever it holds'],
    ],
  },
  '2.3/s16': {
    says: 'Save attributes: `draft` marker, `baseRevision` (integer, optimistic concurrency).',
    provedBy: [
      [
        revisions,
        'activation checks again what has changed since, and leaves the active one where it fails [graph_invalid]',
      ],
      [
        revisions,
        'of a hundred who save on one base one wins, and the others learn what is latest [revision_conflict]',
      ],
    ],
  },
  '2.3/s17': {
    says: 'Active package: immutable; holds graph, schemas, content digest, runner version and a dependency manifest of assigned product ids.',
    provedBy: [
      [packages, 'a package holds graph, schemas, manifest and runner version'],
      [packages, 'the same graph gives the same digest, and another one another'],
      [revisions, 'a save is a revision of its own with a package, whose digest is that of its text'],
      [
        revisions,
        'a revision that an earlier release has saved and activated stays as it is when this one activates it',
      ],
      [
        packageCache,
        'the package of an execution › is the one that it began with, on every replica, though its revision is activated again meanwhile',
      ],
    ],
  },
  '2.3/s18': {
    says: 'MCP flag: per sandbox product, default disabled.',
    provedBy: [
      [sandboxes, 'a sandbox product begins empty, is changed field by field, and is listed with its project'],
      [mcpClients, '$name › is not let in where MCP is not enabled [mcp_disabled]'],
    ],
  },
  '2.4/s1': {
    says: 'Contains: run status, typed output, per-node results, ids of child calls, and `chargedMicro` (exactly the sum of the child charges).',
    provedBy: [
      [
        invoke,
        'an invocation › is answered with the record of its execution, which is named in a header and can be read again',
      ],
      [nodes, 'a chat call is made like a direct one and charged on its usage'],
      [randomExecutions, 'random graphs › run ${name}: each ends, each node once, and the books agree'],
    ],
  },
  '2.4/s2': {
    says: 'Completed node records carry `durationMs` and, for provider calls, `remoteMs`.',
    provedBy: [
      [invokeProgress, 'the progress of an execution › is its admission, each node that ends, and its record'],
      [nodes, 'a chat call is made like a direct one and charged on its usage'],
    ],
  },
  '2.4/s3': {
    says: 'A `Failed` execution is still returned, with the charges already incurred.',
    provedBy: [
      [invoke, 'an invocation › whose execution fails is answered with it, and with what it was charged'],
      [survival, 'two calls that the wallet can pay one after the other both run'],
    ],
  },
  '2.4/s4': {
    says: "Exact names of the execution record's fields for status, typed output, node results and child call ids: not shown.",
    because: 'left open; the names are in flows §4.3',
  },
  '2.5/s1': {
    says: 'Request fields in section 4.2.',
    because: 'refers to section 4.2',
  },
  '2.5/s2': {
    says: 'The response has `choices` and `usage` and the `X-Service-Invocation` header.',
    provedBy: [
      [
        chatCompletions,
        'a chat call that is answered in one piece › is charged for its usage to the micro-USD, and nothing stays reserved afterwards',
      ],
    ],
  },
  '2.5/s3': {
    says: 'For a sandbox model the response also has the `service` object holding the execution id, the project and `charged_micro`.',
    provedBy: [
      [
        chatWithSandbox,
        'a flow of one text › answers a chat like a model, and says which execution it was and what that cost',
      ],
    ],
  },
  '2.5/s4': {
    says: 'Fields of the chat completion response beyond `choices` and `usage`: not shown.',
    because: 'left open; the fields are in rules §3.6',
  },
} satisfies Table
