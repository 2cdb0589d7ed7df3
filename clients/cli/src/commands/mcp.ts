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
    summary: 'Make a flow a tool of an MCP client',
    description:
      'Writes the file of the client and keeps what else is in it; what was there stays alongside it as .backup. The key of GATEWAY_KEY goes into its own file, which only you read, and into no settings.',
    operands: [{ name: 'flow', summary: 'its name here, the name of the product, or its id', offered: 'flows' }],
    options: {
      ...projectOptions,
      ...folderOptions,
      client: { type: 'string', value: 'name', summary: 'Which one', choices: clients },
    },
    examples: clients.map((client) => `gateway mcp install ${exampleIds.sandbox} --client ${client} --yes`),
    async handle(given) {
      const { io, operands, options, session } = given
      if (options.client === undefined)
        throw new CommandFailure('It is not said which client.', `Name it: --client ${clients.join(', ')}`, 'usage')
      if (session.key === null)
        throw new CommandFailure(
          'There is no API key for the client.',
          'Put one of the project into GATEWAY_KEY',
          'signIn',
        )
      const flows = await openFlows(given)
      const sandbox = await flows.sandbox(await sandboxNamed(flows, operands[0]!))
      const address = `${await session.url()}/v1/sandbox/${sandbox.id}/mcp`
      await installServer(given, options.client as McpClient, { sandbox, address, key: session.key })
      if (!sandbox.mcpEnabled) io.say('The flow is not MCP tool yet: turn that on in the console, at Connect a client.')
      if (sandbox.activeRevision === null) io.say('It has no active revision yet: gateway flows activate')
    },
  }),
  command({
    name: 'mcp bridge',
    summary: 'Speak MCP over the standard input and output, with one flow',
    description:
      'What clients start: each call of the tool gets an idempotency key and keeps it over its repeats. MCP_BRIDGE_URL and MCP_BRIDGE_KEY_FILE or GATEWAY_KEY say which flow, by whom.',
    operands: [
      { name: 'flow', summary: 'the id of a flow at GATEWAY_URL; by default that of MCP_BRIDGE_URL', optional: true },
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

function configOf(env: Parameters<typeof readBridgeConfig>[1]) {
  try {
    return readBridgeConfig([], env)
  } catch (error) {
    throw new CommandFailure(
      (error as Error).message,
      'Name the flow, and put a key of its project into GATEWAY_KEY',
      'usage',
    )
  }
}
