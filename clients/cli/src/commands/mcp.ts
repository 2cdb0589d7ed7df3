import { exampleIds } from '@gateway/api/example-ids'
import { readBridgeConfig } from '@gateway/mcp-bridge/bridge-config'
import { runBridge } from '@gateway/mcp-bridge/run-bridge'
import { CommandFailure } from '../frame/command-failure.ts'
import { command, folderOptions, projectOptions } from '../frame/command-row.ts'
import { openFlows, sandboxNamed } from '../flows/open-flows.ts'
import { mcpClients, type McpClient } from '../mcp/mcp-clients.ts'
import { installServer } from '../mcp/install-server.ts'

const clients = Object.keys(mcpClients) as McpClient[]

export const mcpCommands = [
  command({
    name: 'mcp install',
    summary: 'Add a flow to an MCP client as a tool',
    description:
      'Adds the flow to the settings file of the client, whose other entries stay, and keeps the previous file as .backup. The key in GATEWAY_KEY goes into a separate file that only you can read, never into the settings.',
    operands: [{ name: 'flow', summary: 'the name of its file, the name of the product, or its id', offered: 'flows' }],
    options: {
      ...projectOptions,
      ...folderOptions,
      client: { type: 'string', value: 'name', summary: 'Which one', choices: clients },
    },
    examples: clients.map((client) => `gateway mcp install ${exampleIds.sandbox} --client ${client} --yes`),
    async handle(given) {
      const { io, operands, options, session } = given
      if (options.client === undefined)
        throw new CommandFailure('No client is named.', `Name the client with --client: ${clients.join(', ')}`, 'usage')
      if (session.key === null)
        throw new CommandFailure('The client needs an API key.', 'Set GATEWAY_KEY to a key of the project', 'signIn')
      const flows = await openFlows(given)
      const sandbox = await flows.sandbox(await sandboxNamed(flows, operands[0]!))
      const address = `${await session.url()}/v1/sandbox/${sandbox.id}/mcp`
      await installServer(given, options.client as McpClient, { sandbox, address, key: session.key })
      if (!sandbox.mcpEnabled)
        io.say('The flow is not yet exposed as an MCP server: turn that on in the console, under Connect a client.')
      if (sandbox.activeRevision === null) io.say('The flow has no active revision yet: gateway flows activate')
    },
  }),
  command({
    name: 'mcp bridge',
    summary: 'Serve one flow over MCP on standard input and output',
    description:
      'Started by MCP clients. Each call of the tool gets an idempotency key that its retries reuse. MCP_BRIDGE_URL names the flow; MCP_BRIDGE_KEY_FILE or GATEWAY_KEY holds the API key.',
    operands: [
      {
        name: 'flow',
        summary: 'the id of a flow at GATEWAY_URL; by default the flow in MCP_BRIDGE_URL',
        optional: true,
      },
    ],
    examples: [`gateway mcp bridge ${exampleIds.sandbox} < /dev/null`],
    async handle({ io, operands, session }) {
      const [sandbox] = operands
      const { env } = io
      const url = sandbox === undefined ? env['MCP_BRIDGE_URL'] : `${await session.url()}/v1/sandbox/${sandbox}/mcp`
      const isKeyed = env['MCP_BRIDGE_KEY'] || env['MCP_BRIDGE_KEY_FILE']
      const key = isKeyed ? {} : { MCP_BRIDGE_KEY: env['GATEWAY_KEY'] }
      await runBridge(configOf({ ...env, ...key, MCP_BRIDGE_URL: url }))
    },
  }),
]

function configOf(env: Parameters<typeof readBridgeConfig>[0]) {
  try {
    return readBridgeConfig(env)
  } catch (error) {
    throw new CommandFailure(
      (error as Error).message,
      'Name the flow, or set MCP_BRIDGE_URL to its address; set MCP_BRIDGE_KEY or GATEWAY_KEY to a key of its project',
      'usage',
    )
  }
}
