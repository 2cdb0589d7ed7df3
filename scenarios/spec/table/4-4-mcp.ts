import type { Table } from '../check-table.ts'

const mcpClients = 'scenarios/mcp-clients.scenario.ts'
const mcpConformance = 'scenarios/mcp-conformance.scenario.ts'
const mcpCut = 'scenarios/mcp-cut.scenario.ts'
const mcpHttp = 'scenarios/mcp-http.scenario.ts'
const resolutions = 'scenarios/resolutions.scenario.ts'
const sandboxes = 'services/console/src/sandboxes/sandboxes.live.test.ts'

export const mcp = {
  '4.4/s1': {
    says: 'Available only when MCP is enabled on the sandbox product (default disabled).',
    provedBy: [
      [mcpClients, '$name › is not let in where MCP is not enabled [mcp_disabled]'],
      [sandboxes, 'a sandbox product begins empty, is changed field by field, and is listed with its project'],
      [resolutions, 'what clears a refusal › ${resolution.source} [${code}]', "code: 'mcp_disabled'"],
    ],
  },
  '4.4/s2': {
    says: 'Speaks the stateless Streamable HTTP transport.',
    provedBy: [
      [mcpConformance, 'what the revision %s requires holds'],
      [
        mcpClients,
        '$name › repeats a call on other replicas: one execution, one charge, the same result; by HTTP as well',
      ],
    ],
  },
  '4.4/s3': {
    says: '`GET` and `DELETE` answer 405 after authorization.',
    provedBy: [
      [
        mcpHttp,
        'GET and DELETE are refused, behind the key, the project and the flag [method_not_allowed] [mcp_disabled]',
      ],
    ],
  },
  '4.4/s4': {
    says: 'Same bearer keys and same project authority; no separate identity or wallet.',
    provedBy: [
      [
        mcpHttp,
        'a selector that names another project is refused [project_mismatch], and so is one sent twice [duplicate_header]',
      ],
      [
        mcpHttp,
        'what the caller can clear is a result, not a failure of the protocol [insufficient_budget] [key_limit]',
      ],
      [mcpClients, '$name › is not let in with a key of nobody [key_invalid]'],
      [mcpHttp, 'nothing starts a dance of OAuth'],
      [mcpClients, '$name › is not let into another project [sandbox_not_found]'],
    ],
  },
  '4.4/s5': {
    says: "Exposes exactly one tool, `invoke_product`; its input and output schemas come from the active immutable revision's contract.",
    provedBy: [
      [mcpClients, '$name › is told of one tool, with the schemas of the active revision'],
      [mcpHttp, 'another tool is an error of JSON-RPC, and runs nothing'],
      [mcpHttp, 'a repeat has the result of its execution, also when another revision is active by then'],
    ],
  },
  '4.4/s6': {
    says: 'Every tool call requires the `Idempotency-Key` header; a retry with the same key replays the same run and child charges.',
    provedBy: [
      [mcpClients, '$name › is told how to send the key that it left out [idempotency_key_required]'],
      [
        mcpClients,
        '$name › repeats a call on other replicas: one execution, one charge, the same result; by HTTP as well',
      ],
      [mcpCut, 'a call cut at any point is one execution and one charge, wherever and however often it is repeated'],
    ],
  },
  '4.4/s7': {
    says: 'Output holds structured values plus native image or audio content where the contract produces them.',
    provedBy: [
      [mcpClients, '$name › calls it, and gets values that fit the schema and a text of them'],
      [mcpClients, '$name › gets an image as an image'],
      [mcpClients, '$name › gets a sound as a sound'],
      [mcpHttp, 'what only looks like an asset is not shown'],
    ],
  },
} satisfies Table
