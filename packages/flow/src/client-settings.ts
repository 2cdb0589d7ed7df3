export interface ClientSettings {
  title: string
  /** Where to put the text. */
  where: string
  text: string
}

/**
 * Returns the settings with which each client reaches a flow, as in docs/mcp.md. The key is a placeholder.
 * @param name server name in the client: letters, digits and dashes
 * @param topics example input of the flow, as JSON
 */
export function clientSettings({
  name,
  address,
  topics,
}: Record<'name' | 'address' | 'topics', string>): ClientSettings[] {
  return [
    {
      title: 'Claude Desktop',
      where: 'claude_desktop_config.json (Settings, Developer, Edit Config)',
      text: `{
  "mcpServers": {
    "${name}": {
      "command": "npx",
      "args": ["--yes", "file:/path/to/gateway-cli-0.1.0.tgz", "mcp", "bridge"],
      "env": {
        "MCP_BRIDGE_URL": "${address}",
        "MCP_BRIDGE_KEY": "svc_your_key"
      }
    }
  }
}
`,
    },
    {
      title: 'Claude Code',
      where: 'a terminal',
      text: `claude mcp add ${name} --env MCP_BRIDGE_URL=${address} --env MCP_BRIDGE_KEY=svc_your_key -- npx --yes file:/path/to/gateway-cli-0.1.0.tgz mcp bridge
`,
    },
    {
      title: 'Codex',
      where: 'a terminal',
      text: `codex mcp add ${name} --env MCP_BRIDGE_URL=${address} --env MCP_BRIDGE_KEY=svc_your_key -- npx --yes file:/path/to/gateway-cli-0.1.0.tgz mcp bridge
`,
    },
    {
      title: 'Cursor',
      where: '~/.cursor/mcp.json, or .cursor/mcp.json of a project',
      text: `{
  "mcpServers": {
    "${name}": {
      "command": "npx",
      "args": ["--yes", "file:/path/to/gateway-cli-0.1.0.tgz", "mcp", "bridge"],
      "env": {
        "MCP_BRIDGE_URL": "${address}",
        "MCP_BRIDGE_KEY": "svc_your_key"
      }
    }
  }
}
`,
    },
    {
      title: 'VS Code',
      where: '.vscode/mcp.json; VS Code asks for the key once and keeps it',
      text: `{
  "inputs": [{ "type": "promptString", "id": "gateway-key", "description": "API key", "password": true }],
  "servers": {
    "${name}": {
      "type": "stdio",
      "command": "npx",
      "args": ["--yes", "file:/path/to/gateway-cli-0.1.0.tgz", "mcp", "bridge"],
      "env": {
        "MCP_BRIDGE_URL": "${address}",
        "MCP_BRIDGE_KEY": "\${input:gateway-key}"
      }
    }
  }
}
`,
    },
    {
      title: 'MCP Inspector',
      where: 'a terminal',
      text: `npx @modelcontextprotocol/inspector --cli ${address} --transport http --stored-auth-only --header "Authorization: Bearer svc_your_key" --header "Idempotency-Key: $(uuidgen || cat /proc/sys/kernel/random/uuid)" --method tools/call --tool-name invoke_product --tool-args-json '${topics.replaceAll("'", String.raw`'\''`)}'
`,
    },
  ]
}
