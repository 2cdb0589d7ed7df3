import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

const VERSION = '1.15.2'

/**
 * Installs the Portkey gateway into a folder of the benches on first use, without running its install scripts. Returns
 * its program.
 */
export async function installPortkey(folder: string, log: (line: string) => void): Promise<string> {
  const home = path.join(folder, `portkey-${VERSION}`)
  const program = path.join(home, 'node_modules/@portkey-ai/gateway/build/start-server.js')
  if (existsSync(program)) return program
  log(`Installing @portkey-ai/gateway ${VERSION}`)
  await mkdir(home, { recursive: true })
  await writeFile(path.join(home, 'package.json'), '{ "private": true }\n')
  const words = ['install', '--ignore-scripts', '--no-audit', '--no-fund', `@portkey-ai/gateway@${VERSION}`]
  await promisify(execFile)('npm', words, { cwd: home })
  return program
}
