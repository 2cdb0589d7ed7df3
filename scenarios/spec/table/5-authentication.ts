import type { Table } from '../check-table.ts'

const isolation = 'scenarios/isolation.scenario.ts'
const keyAttacks = 'scenarios/key-attacks.scenario.ts'
const keyLimits = 'scenarios/key-limits.scenario.ts'
const mcpClients = 'scenarios/mcp-clients.scenario.ts'
const mcpHttp = 'scenarios/mcp-http.scenario.ts'
const nothingLeaks = 'scenarios/nothing-leaks.scenario.ts'
const resolutions = 'scenarios/resolutions.scenario.ts'
const revocationOfFlows = 'scenarios/revocation-of-flows.scenario.ts'
const revocation = 'scenarios/revocation.scenario.ts'
const skewedClocks = 'scenarios/skewed-clocks.scenario.ts'
const executions = 'services/console/src/executions/executions.live.test.ts'
const createKey = 'services/console/src/keys/create-key.live.test.ts'
const money = 'services/console/src/money/money.live.test.ts'
const permissions = 'services/console/src/permissions/permissions.test.ts'
const sandboxes = 'services/console/src/sandboxes/sandboxes.live.test.ts'
const refusals = 'services/gateway/src/errors/refusals.live.test.ts'
const chatWithSandbox = 'services/gateway/src/executions/chat-with-sandbox.live.test.ts'
const key = 'services/gateway/src/routes/v1/key.live.test.ts'
const invoke = 'services/gateway/src/routes/v1/sandbox/invoke.live.test.ts'
const progressRevoked = 'services/gateway/src/routes/v1/sandbox/progress-revoked.live.test.ts'

export const authentication = {
  '5/s1': {
    says: 'Scheme: header `Authorization: Bearer <API_KEY>`, key format `svc_<random token>`.',
    provedBy: [
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
      [createKey, 'a key is bound to its project, shows its secret once, and only its hash is stored'],
    ],
  },
  '5/s2': {
    says: 'A key is issued in the console and bound to one project at creation; the binding never changes.',
    provedBy: [
      [createKey, 'a key is bound to its project, shows its secret once, and only its hash is stored'],
      [
        keyAttacks,
        'the binding of a key › is for life: no column that says what a key may do can be changed, by the console’s role or the owner’s',
      ],
    ],
  },
  '5/s3': {
    says: 'Who may issue a key (all three required; organization administration alone gives 403 `key_issuer_denied`):',
    provedBy: [
      [createKey, '%s issues no key [key_issuer_denied]', "'an Admin without team and grant'"],
      [permissions, 'the issuer rule [key_issuer_denied] › holds with all three'],
      [permissions, 'the issuer rule [key_issuer_denied] › fails with %j', "{ team: null, tenant: 'Admin'"],
    ],
  },
  '5/s4': {
    says: 'an active membership of the organization;',
    provedBy: [
      [permissions, 'the issuer rule [key_issuer_denied] › fails with %j', '{ tenant: null }'],
      [createKey, 'who has left the organization issues no key, whatever roles are left behind [key_issuer_denied]'],
    ],
  },
  '5/s5': {
    says: "an active grant on the project's owning team (Team Owner or Team Member);",
    provedBy: [
      [permissions, 'the issuer rule [key_issuer_denied] › fails with %j', '{ team: null }'],
      [createKey, '%s issues no key [key_issuer_denied]', "'a Project Owner outside the team'"],
      [createKey, 'a Team Member with the grant Project Consumer issues keys'],
    ],
  },
  '5/s6': {
    says: 'an active project grant carrying invocation rights (Project Owner or Project Consumer).',
    provedBy: [
      [permissions, 'the issuer rule [key_issuer_denied] › fails with %j', "{ project: 'Project Viewer' }"],
      [createKey, '%s issues no key [key_issuer_denied]', "'a Project Viewer in the team'"],
      [createKey, '%s issues no key [key_issuer_denied]', "'a member of the team without a grant'"],
      [createKey, 'a Team Member with the grant Project Consumer issues keys'],
    ],
  },
  '5/s7': {
    says: "The issuer rule is re-checked on every use of the key: once the creator's grant is revoked, the next call is refused.",
    provedBy: [
      [money, 'every revocation that has answered binds the next call'],
      [
        revocation,
        'none of ${CALLS} calls is admitted that starts after its right has ended [key_revoked] [key_issuer_denied] [model_not_found]',
      ],
      [
        revocationOfFlows,
        'none of ${CALLS} calls begins an execution after its right has ended [revision_not_active] [key_issuer_denied] [key_revoked]',
      ],
      [
        progressRevoked,
        'where %s › who began an execution and who joined it read no further line [${code}]',
        'the grant of its issuer is taken',
      ],
      [progressRevoked, 'where %s › a call of the tool that is told of progress is refused [${code}]'],
    ],
  },
  '5/s8': {
    says: 'Key scope checks on each call: access policy (403 `key_scope` outside an allowlist), spending limit (403 `key_limit` once the ceiling is reached, until the window resets), expiry, and the project selector check (4.5).',
    provedBy: [
      [nothingLeaks, 'the model list › of a listed key is its allowlist [key_scope]'],
      [
        keyLimits,
        '${CALLERS} callers at once › fill a limit to the last call that fits, and not one micro-USD further [key_limit]',
      ],
      [
        keyLimits,
        'a window › that is ${reset} starts full once it has passed, and what was admitted before counts before [key_limit]',
      ],
      [
        key,
        'who am I › is refused as a call would be, with the same bytes [key_revoked, key_expired, key_unbound, key_issuer_denied, project_mismatch]',
      ],
      [skewedClocks, 'clocks that are wrong by a day › neither expire a key early nor keep one alive [key_expired]'],
      [
        refusals,
        'a call is refused, reserves nothing and says what clears it › $title',
        'another project in a header [project_mismatch]',
      ],
    ],
  },
  '5/s9': {
    says: 'Sandbox products need explicit project consumption authority (`project.invoke`, i.e. a Project Owner or Project Consumer grant) for every read and write.',
    provedBy: [
      [sandboxes, 'only an explicit grant to consume reaches it: to all others it never was [sandbox_not_found]'],
      [permissions, '%s is granted to those and nobody else [not_permitted]', "'sandboxes.use': ['consumer', 'owner']"],
    ],
  },
  '5/s10': {
    says: 'Owning-team membership and organization administration do not reach them.',
    provedBy: [
      [sandboxes, 'only an explicit grant to consume reaches it: to all others it never was [sandbox_not_found]'],
    ],
  },
  '5/s11': {
    says: 'A different project of the same organization receives 404, not 403.',
    provedBy: [
      [
        invoke,
        'what is refused begins no execution and charges nothing › of another project like of none, byte for byte [sandbox_not_found]',
      ],
      [isolation, 'the gateway › ${route}${named && `, naming the ${named}`}', 'NO_SANDBOX'],
    ],
  },
  '5/s12': {
    says: 'MCP uses the same keys and authority.',
    provedBy: [
      [
        mcpHttp,
        'GET and DELETE are refused, behind the key, the project and the flag [method_not_allowed] [mcp_disabled]',
      ],
      [mcpClients, '$name › is not let in with a key of nobody [key_invalid]'],
      [
        isolation,
        'the gateway › ${route}${named && `, naming the ${named}`}',
        "row('POST /v1/sandbox/:id/mcp', '200', NO_SANDBOX",
      ],
    ],
  },
  '5/s13': {
    says: 'A project without funds is refused with status 402.',
    provedBy: [
      [
        resolutions,
        'what clears a refusal › ${resolution.source} [${code}]',
        'Ask the platform operator to fund the project',
      ],
      [
        refusals,
        'a call is refused, reserves nothing and says what clears it › more than the wallet holds [insufficient_budget]',
      ],
      [
        chatWithSandbox,
        'what is no model of the caller › is anything while the project has no funds, also what costs nothing [insufficient_budget]',
      ],
      [
        invoke,
        'what is refused begins no execution and charges nothing › without money, whether the flow pays for anything or not [insufficient_budget, key_limit]',
      ],
      [
        executions,
        'a flow needs a wallet, and products that are assigned now [insufficient_budget] [product_not_assigned]',
      ],
    ],
  },
} satisfies Table
