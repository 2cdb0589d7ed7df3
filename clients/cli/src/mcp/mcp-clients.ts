import path from 'node:path'
import type { Io } from '../frame/io.ts'

interface ClientFile {
  /** The title of the settings in the console (packages/flow/src/client-settings.ts). */
  title: string
  file(io: Pick<Io, 'env' | 'folder' | 'homeFolder' | 'platform'>): string
}

/** Settings file of each client. */
export const mcpClients = {
  'claude-code': { title: 'Claude Desktop', file: ({ folder }) => path.join(folder, '.mcp.json') },
  'claude-desktop': {
    title: 'Claude Desktop',
    file: ({ env, homeFolder, platform }) =>
      path.join(desktopFolder(env, homeFolder, platform), 'Claude', 'claude_desktop_config.json'),
  },
  cursor: { title: 'Cursor', file: ({ homeFolder }) => path.join(homeFolder, '.cursor', 'mcp.json') },
  vscode: { title: 'VS Code', file: ({ folder }) => path.join(folder, '.vscode', 'mcp.json') },
} as const satisfies Record<string, ClientFile>
export type McpClient = keyof typeof mcpClients

function desktopFolder(env: Io['env'], home: string, platform: string): string {
  if (platform === 'darwin') return path.join(home, 'Library', 'Application Support')
  if (platform === 'win32') return env['APPDATA'] || path.join(home, 'AppData', 'Roaming')
  return env['XDG_CONFIG_HOME'] || path.join(home, '.config')
}
