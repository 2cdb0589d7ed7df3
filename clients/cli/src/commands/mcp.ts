import { exampleIds } from '@gateway/api/example-ids'
import { readBridgeConfig } from '@gateway/mcp-bridge/bridge-config'
import { runBridge } from '@gateway/mcp-bridge/run-bridge'
import { CommandFailure } from '../frame/command-failure.ts'
import { command, folderOptions, projectOptions, type Given } from '../frame/command-row.ts'
import { openFlows, sandboxNamed } from '../flows/open-flows.ts'
import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import type { SandboxRecord } from '@gateway/api/console/sandboxes'
import { clientSettings } from '@gateway/flow/client-settings'
import { confirm, type Io } from '../frame/io.ts'
import { writeWhole } from '../frame/write-whole.ts'
import { nameFor } from '../flows/flow-folder.ts'
import { readIfThere, writePrivateFile, settingsFolder } from '../session/profiles.ts'

interface ClientFile {
  /** The title of the settings in the console (packages/flow/src/client-settings.ts). */
  title: string
  file(io: Pick<Io, 'env' | 'folder' | 'homeFolder' | 'platform'>): string
}

/** Settings file of each client. */
const mcpClients = {
  'claude-code': { title: 'Claude Desktop', file: ({ folder }) => path.join(folder, '.mcp.json') },
  'claude-desktop': {
    title: 'Claude Desktop',
    file: ({ env, homeFolder, platform }) =>
      path.join(desktopFolder(env, homeFolder, platform), 'Claude', 'claude_desktop_config.json'),
  },
  cursor: { title: 'Cursor', file: ({ homeFolder }) => path.join(homeFolder, '.cursor', 'mcp.json') },
  vscode: { title: 'VS Code', file: ({ folder }) => path.join(folder, '.vscode', 'mcp.json') },
} as const satisfies Record<string, ClientFile>
type McpClient = keyof typeof mcpClients

function desktopFolder(env: Io['env'], home: string, platform: string): string {
  if (platform === 'darwin') return path.join(home, 'Library', 'Application Support')
  if (platform === 'win32') return env['APPDATA'] || path.join(home, 'AppData', 'Roaming')
  return env['XDG_CONFIG_HOME'] || path.join(home, '.config')
}

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

type Servers = Record<string, unknown>
interface Settings {
  mcpServers?: Servers
  servers?: Servers
}

/** Adds a flow to the settings file of a client, after showing the change and asking for confirmation on a terminal. */
async function installServer(
  given: Given,
  client: McpClient,
  { sandbox, address, key }: { sandbox: SandboxRecord; address: string; key: string },
): Promise<void> {
  const { io } = given
  const { title, file: fileIn } = mcpClients[client]
  const file = fileIn(io)
  const keyFile = path.join(settingsFolder(io), 'keys', `${sandbox.id.replaceAll(/[^\w-]/g, '_')}.key`)
  const text = await readIfThere(file)
  const settings = settingsOf(file, text)
  const others = Object.entries({ ...settings.servers, ...settings.mcpServers }).filter(
    ([, server]) => (server as { env?: { MCP_BRIDGE_URL?: unknown } } | null)?.env?.MCP_BRIDGE_URL !== address,
  )
  const name = nameFor(sandbox.name, sandbox.id, new Set(others.map(([taken]) => taken)))
  const shown = clientSettings({ name, address, topics: '{}' }).find((one) => one.title === title)!
  const { mcpServers, servers } = JSON.parse(shown.text) as Settings
  const part = mcpServers ? 'mcpServers' : 'servers'
  const [command, script] = io.program
  const server = {
    ...((mcpServers ?? servers)![name] as object),
    command,
    args: [script, 'mcp', 'bridge'],
    env: { MCP_BRIDGE_URL: address, MCP_BRIDGE_KEY_FILE: keyFile },
  }
  const before = settings[part]?.[name]
  io.say(`${file}, ${part}:`)
  if (before !== undefined) io.say(marked('-', name, before))
  io.say(marked('+', name, server))
  await confirm(given, before === undefined ? `${name} will be added.` : `${name} will be replaced.`)
  if ((await readIfThere(file)) !== text)
    throw new CommandFailure(`${file} has changed meanwhile. It is left unchanged.`, 'Run the command again')

  await writePrivateFile(keyFile, `${key}\n`)
  const mode = text === null ? 0o600 : (await stat(file)).mode & 0o777 // settings of other servers may hold secrets
  if (text !== null) await writeWhole(`${file}.backup`, await readFile(file), { mode })
  const changed = { ...settings, [part]: { ...settings[part], [name]: server } }
  await writeWhole(file, `${JSON.stringify(changed, null, 2)}\n`, { mode, isFollowed: true })
  io.say(`${name} is in ${file}. Restart the client.`)
}

function settingsOf(file: string, text: string | null): Settings {
  if (text === null || text.trim() === '') return {}
  try {
    const settings: unknown = JSON.parse(text)
    if (
      isRecord(settings) &&
      [settings['mcpServers'], settings['servers']].every((part) => part === undefined || isRecord(part))
    )
      return settings
  } catch {}
  throw new CommandFailure(
    `${file} is not a JSON object of servers, perhaps because of comments. It is left unchanged.`,
    'Add the settings by hand, as described in docs/mcp.md',
  )
}

const isRecord = (value: unknown): value is Servers =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function marked(sign: string, name: string, server: unknown): string {
  return `${JSON.stringify(name)}: ${JSON.stringify(server, null, 2)}`
    .split('\n')
    .map((line) => `${sign} ${line}`)
    .join('\n')
}
