import type { Table } from '../check-table.ts'

const contractsRefusals = 'packages/contracts/src/refusals.test.ts'
const callableModels = 'scenarios/callable-models.scenario.ts'
const isolation = 'scenarios/isolation.scenario.ts'
const keyLimits = 'scenarios/key-limits.scenario.ts'
const mcpHttp = 'scenarios/mcp-http.scenario.ts'
const noOverspend = 'scenarios/no-overspend.scenario.ts'
const nothingLeaks = 'scenarios/nothing-leaks.scenario.ts'
const resolutions = 'scenarios/resolutions.scenario.ts'
const specifiedClaims = 'scenarios/spec/specified-claims.test.ts'
const createKey = 'services/console/src/keys/create-key.live.test.ts'
const revisions = 'services/console/src/sandboxes/revisions.live.test.ts'
const sandboxes = 'services/console/src/sandboxes/sandboxes.live.test.ts'
const exactCount = 'services/gateway/src/admission/exact-count.live.test.ts'
const errorsRefusals = 'services/gateway/src/errors/refusals.live.test.ts'
const chatWithSandbox = 'services/gateway/src/executions/chat-with-sandbox.live.test.ts'
const key = 'services/gateway/src/routes/v1/key.live.test.ts'
const invoke = 'services/gateway/src/routes/v1/sandbox/invoke.live.test.ts'
const nodeCallers = 'services/ledger/src/admissions/node-callers.live.test.ts'
const survival = 'services/worker/src/survival.live.test.ts'

export const errors = {
  '7/r1': {
    says: '| 422 | `project_required` | key creation without a project |',
    provedBy: [
      [specifiedClaims, 'the codes › have the status of the table'],
      [createKey, 'a key of %j is refused: %s', "'422 project_required'"],
    ],
  },
  '7/r2': {
    says: '| 403 | `key_issuer_denied` | creator lacks one of the three issuance requirements |',
    provedBy: [
      [specifiedClaims, 'the codes › have the status of the table'],
      [createKey, '%s issues no key [key_issuer_denied]'],
      [
        key,
        'who am I › is refused as a call would be, with the same bytes [key_revoked, key_expired, key_unbound, key_issuer_denied, project_mismatch]',
      ],
    ],
  },
  '7/r3': {
    says: '| 403 | `project_mismatch` | selector names a project other than the bound one |',
    provedBy: [
      [specifiedClaims, 'the codes › have the status of the table'],
      [
        errorsRefusals,
        'a call is refused, reserves nothing and says what clears it › $title',
        'another project in a header [project_mismatch]',
      ],
    ],
  },
  '7/r4': {
    says: '| 403 | `key_unbound` | legacy unbound key used |',
    provedBy: [
      [specifiedClaims, 'the codes › have the status of the table'],
      [isolation, 'the gateway › ${route}${named && `, naming the ${named}`}', "legacyKey: '403 key_unbound'"],
    ],
  },
  '7/r5': {
    says: '| 422 | `resource_not_eligible` | allowlist id that is not an eligible resource of the project |',
    provedBy: [
      [specifiedClaims, 'the codes › have the status of the table'],
      [createKey, 'an allowlist names assigned, published products alone [resource_not_eligible]'],
      [sandboxes, 'a key may list sandbox products of its own project, and of no other [resource_not_eligible]'],
    ],
  },
  '7/r6': {
    says: "| 403 | `key_scope` | resource outside the key's allowlist |",
    provedBy: [
      [specifiedClaims, 'the codes › have the status of the table'],
      [nothingLeaks, 'the model list › of a listed key is its allowlist [key_scope]'],
      [
        invoke,
        'what is refused begins no execution and charges nothing › by a key that lists less than the flow and all that it calls [key_scope]',
      ],
    ],
  },
  '7/r7': {
    says: "| 403 | `key_limit` | key's spending limit reached, until reset |",
    provedBy: [
      [specifiedClaims, 'the codes › have the status of the table'],
      [
        errorsRefusals,
        'a call is refused, reserves nothing and says what clears it › more than a key may spend in its window, and when it may again [key_limit]',
      ],
      [
        keyLimits,
        'a window › that is ${reset} starts full once it has passed, and what was admitted before counts before [key_limit]',
      ],
    ],
  },
  '7/r8': {
    says: '| 422 | `context_limit` | request exceeds model context or output limits |',
    provedBy: [
      [specifiedClaims, 'the codes › have the status of the table'],
      [
        exactCount,
        "a prompt of more bytes than tokens › fits a context that its tokens fit, to the token${stream ? ', streamed' : ''} [context_limit]",
      ],
      [
        errorsRefusals,
        'a call is refused, reserves nothing and says what clears it › $title',
        'more output than the model has',
      ],
    ],
  },
  '7/r9': {
    says: '| 404 | `model_not_found` | id not callable by the project at this moment |',
    provedBy: [
      [specifiedClaims, 'the codes › have the status of the table'],
      [callableModels, 'what is listed can be called, and what is not listed can not'],
    ],
  },
  '7/r10': {
    says: '| 422 | `sandbox_contract` | sandbox product with a non-chat contract called as a chat model |',
    provedBy: [
      [specifiedClaims, 'the codes › have the status of the table'],
      [chatWithSandbox, 'what is no model of the caller › is a flow with another contract [sandbox_contract]'],
    ],
  },
  '7/r11': {
    says: '| 422 | `input_type` | sandbox input value of wrong type or a select value outside its enum |',
    provedBy: [
      [specifiedClaims, 'the codes › have the status of the table'],
      [
        invoke,
        'what is refused begins no execution and charges nothing › with an input of the wrong type or a choice that there is not [input_type]',
      ],
    ],
  },
  '7/r12': {
    says: '| 409 | `revision_conflict` | save with stale `baseRevision` |',
    provedBy: [
      [specifiedClaims, 'the codes › have the status of the table'],
      [
        revisions,
        'of a hundred who save on one base one wins, and the others learn what is latest [revision_conflict]',
      ],
    ],
  },
  '7/r13': {
    says: '| 409 | `revision_not_active` | invoke naming a revision that is not the active one |',
    provedBy: [
      [specifiedClaims, 'the codes › have the status of the table'],
      [
        invoke,
        'what is refused begins no execution and charges nothing › of a revision that is not active, of a flow that is suspended, and of one that never was [revision_not_active]',
      ],
    ],
  },
  '7/r14': {
    says: '| 404 | (none named) | sandbox product of another project |',
    provedBy: [
      [specifiedClaims, 'the codes › that the table leaves open are ours, at its status'],
      [
        invoke,
        'what is refused begins no execution and charges nothing › of another project like of none, byte for byte [sandbox_not_found]',
      ],
    ],
  },
  '7/r15': {
    says: '| 405 | (none named) | GET or DELETE on the MCP endpoint, after authorization |',
    provedBy: [
      [specifiedClaims, 'the codes › that the table leaves open are ours, at its status'],
      [
        mcpHttp,
        'GET and DELETE are refused, behind the key, the project and the flag [method_not_allowed] [mcp_disabled]',
      ],
    ],
  },
  '7/r16': {
    says: '| 403 | `product_not_assigned` | call before the product is assigned to the project |',
    provedBy: [
      [specifiedClaims, 'the codes › have the status of the table'],
      [resolutions, 'what clears a refusal › ${resolution.source} [${code}]', 'to assign the product to the project'],
      [nodeCallers, 'what an execution may call › is assigned and published [product_not_assigned]'],
    ],
  },
  '7/r17': {
    says: '| 402 | (code named below) | project wallet is unfunded |',
    provedBy: [
      [specifiedClaims, 'the codes › that the table leaves open are ours, at its status'],
      [
        resolutions,
        'what clears a refusal › ${resolution.source} [${code}]',
        'Ask the platform operator to fund the project',
      ],
    ],
  },
  '7/s1': {
    says: 'Additional codes named without a status: `insufficient_budget` (a spend failure).',
    provedBy: [
      [specifiedClaims, 'the codes › that the table leaves open are ours, at its status'],
      [survival, 'two calls that the wallet can pay one after the other both run'],
      [
        errorsRefusals,
        'a call is refused, reserves nothing and says what clears it › more than the wallet holds [insufficient_budget]',
      ],
    ],
  },
  '7/s2': {
    says: 'Rules:',
    because: 'introduces what follows it',
  },
  '7/s3': {
    says: 'Every refusal names what clears it.',
    provedBy: [
      [contractsRefusals, '%s › says what is wrong and what clears it, in whole sentences'],
      [resolutions, 'what clears a refusal › is tried for every 402, 403 and 422'],
      [resolutions, 'what clears a refusal › ${resolution.source} [${code}]'],
    ],
  },
  '7/s4': {
    says: 'A call refused before reaching a provider is never charged.',
    provedBy: [
      [errorsRefusals, 'a call is refused, reserves nothing and says what clears it › $title'],
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
  '7/s5': {
    says: 'If funds run out during a sandbox run, the execution fails and reports the charges already incurred.',
    provedBy: [[survival, 'two calls that the wallet can pay one after the other both run']],
  },
  '7/s6': {
    says: 'Gaps:',
    because: 'introduces what follows it',
  },
  '7/s7': {
    says: 'Shape of the error response body: not shown.',
    because: 'left open; the shape is in rules §2.1',
  },
  '7/s8': {
    says: 'Status and code for a missing, malformed, revoked or expired key: not shown.',
    because: 'left open; the codes are in rules §2.4',
  },
  '7/s9': {
    says: 'Status for `insufficient_budget`, and which code accompanies the 402: not shown.',
    because: 'left open; 402, and the one code of it, are in rules §2.4',
  },
  '7/s10': {
    says: 'Codes for violations of chat request field bounds other than `context_limit`: not shown.',
    because: 'left open; the codes are in rules §3.2',
  },
  '7/s11': {
    says: 'Which of `model_not_found` and `product_not_assigned` applies to an unassigned product: not shown.',
    because: 'left open; rules §2.5 says which',
  },
} satisfies Table
