import path from 'node:path'
import type { Endpoint } from './mcp-client.ts'

const workspace = path.resolve(import.meta.dirname, '../../../..')

/** Command with which a client starts the bridge, from its source. The docs use npx, which takes a second longer. */
export function bridgeOf({ url, key }: Endpoint, settings: Record<string, string> = {}) {
  return {
    command: process.execPath,
    args: [path.join(workspace, 'clients/cli/src/main.ts'), 'mcp', 'bridge'],
    env: {
      PATH: process.env['PATH']!,
      HOME: process.env['HOME']!,
      MCP_BRIDGE_URL: url.href,
      ...(key !== null && { MCP_BRIDGE_KEY: key }),
      ...settings,
    },
  }
}
