import type { Table } from '../check-table.ts'

const isolation = 'scenarios/isolation.scenario.ts'
const keyAttacks = 'scenarios/key-attacks.scenario.ts'
const mcpHttp = 'scenarios/mcp-http.scenario.ts'
const rotateKey = 'services/console/src/keys/rotate-key.live.test.ts'
const refusals = 'services/gateway/src/errors/refusals.live.test.ts'
const readChat = 'services/gateway/src/request/read-chat.test.ts'
const chatCompletions = 'services/gateway/src/routes/v1/chat-completions.live.test.ts'
const invoke = 'services/gateway/src/routes/v1/sandbox/invoke.live.test.ts'

export const selectorAndRotation = {
  '4.5/s1': {
    says: 'Headers `X-Service-Project` and its alias `X-Project-ID`, and body field `project_id`, serve only as a consistency check.',
    provedBy: [
      [readChat, 'the selector of a call › is nothing, or the one value that all agree on'],
      [
        keyAttacks,
        'a selector of another project › moves no money and remembers nothing, wherever it stands [project_mismatch]',
      ],
      [
        invoke,
        'what is refused begins no execution and charges nothing › naming another project, by each of the three variants [project_mismatch]',
      ],
    ],
  },
  '4.5/r1': {
    says: '| selector omitted or equal to the bound project | call proceeds |',
    provedBy: [
      [
        keyAttacks,
        'a selector of another project › moves no money and remembers nothing, wherever it stands [project_mismatch]',
      ],
      [
        refusals,
        'a call is refused, reserves nothing and says what clears it › $title',
        "title: 'of another project [project_mismatch]'",
      ],
      [
        chatCompletions,
        'a call under an idempotency key › is answered again byte for byte, under the same invocation, charged once',
        'project_id: tenant.project',
      ],
      [
        mcpHttp,
        'a selector that names another project is refused [project_mismatch], and so is one sent twice [duplicate_header]',
      ],
    ],
  },
  '4.5/r2': {
    says: '| selector names a different project | 403 `project_mismatch`, before any money is reserved |',
    provedBy: [
      [
        keyAttacks,
        'a selector of another project › moves no money and remembers nothing, wherever it stands [project_mismatch]',
      ],
      [
        refusals,
        'a call is refused, reserves nothing and says what clears it › $title',
        'another project in a header [project_mismatch]',
      ],
      [isolation, 'the gateway › ${route}${named && `, naming the ${named}`}', 'MISMATCH'],
    ],
  },
  '4.5/r3': {
    says: '| key is legacy unbound | 403 `key_unbound` on every endpoint |',
    provedBy: [
      [isolation, 'the gateway › ${route}${named && `, naming the ${named}`}', "legacyKey: '403 key_unbound'"],
      [isolation, 'every route has a row › of the gateway'],
      [rotateKey, 'a key rotates itself and nothing else [not_found]'],
    ],
  },
  '4.6/s1': {
    says: 'Issues a replacement secret with the same project, access policy, allowlist, spending limit and expiry span, and records lineage (`rotatedFrom` / `rotatedTo`).',
    provedBy: [[rotateKey, 'a replacement keeps everything but the secret, and the lineage says so']],
  },
  '4.6/s2': {
    says: 'Legacy unbound keys cannot be rotated.',
    provedBy: [
      [rotateKey, 'a legacy key needs reissue and is never rotated [key_not_active]'],
      [rotateKey, 'a key rotates itself and nothing else [not_found]'],
    ],
  },
  '4.6/s3': {
    says: 'Request body and response shape: not shown.',
    because: 'left open; rules §6.8 says both',
  },
  '4.6/s4': {
    says: 'Path for creating a key: not shown.',
    because: 'left open; the paths are in rules §7.2',
  },
  '4.6/s5': {
    says: 'Paths for saving, activating, enabling MCP on and otherwise managing sandbox products through the console API: not shown.',
    because: 'left open; the paths are in rules §7.2',
  },
} satisfies Table
