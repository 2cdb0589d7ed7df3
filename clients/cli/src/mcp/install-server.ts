import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { SandboxRecord } from '@gateway/api/console/sandboxes'
import { clientSettings } from '@gateway/flow/client-settings'
import { CommandFailure } from '../frame/command-failure.ts'
import type { Given } from '../frame/command-row.ts'
import { confirm } from '../frame/confirm.ts'
import { writeWhole } from '../frame/write-whole.ts'
import { nameFor } from '../flows/flow-name.ts'
import { readIfThere, writePrivateFile } from '../session/private-file.ts'
import { settingsFolder } from '../session/profiles.ts'
import { mcpClients, type McpClient } from './mcp-clients.ts'

type Servers = Record<string, unknown>
interface Settings {
  mcpServers?: Servers
  servers?: Servers
}

/** Adds a flow to the settings file of a client, after showing the change and asking for confirmation on a terminal. */
export async function installServer(
  given: Given,
  client: McpClient,
  { sandbox, address, key }: { sandbox: SandboxRecord; address: string; key: string },
): Promise<void> {
  const { io } = given
  const { title, file: fileIn } = mcpClients[client]
  const file = fileIn(io)
  const keyFile = path.join(settingsFolder(io), 'keys', `${sandbox.id.replaceAll(/[^\w-]/g, '_')}.key`)
  const name = nameFor(sandbox.name, sandbox.id, new Set())
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
  const text = await readIfThere(file)
  const settings = settingsOf(file, text)
  const before = settings[part]?.[name]
  io.say(`${file}, ${part}:`)
  if (before !== undefined) io.say(marked('-', name, before))
  io.say(marked('+', name, server))
  await confirm(given, before === undefined ? `${name} will be added.` : `${name} will be replaced.`)

  await writePrivateFile(keyFile, `${key}\n`)
  if (text !== null) await writeWhole(`${file}.backup`, await readFile(file))
  const changed = { ...settings, [part]: { ...settings[part], [name]: server } }
  await writeWhole(file, `${JSON.stringify(changed, null, 2)}\n`, { isFollowed: true })
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
