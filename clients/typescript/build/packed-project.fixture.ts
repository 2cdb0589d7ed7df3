import { execFile } from 'node:child_process'
import { rename, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { buildPackage } from './build-package.ts'

const run = promisify(execFile)

/**
 * Builds and packs the client, and installs the archive into an empty project in this folder, without a network.
 * @returns where it is installed
 */
export async function installPacked(project: string): Promise<string> {
  const built = path.join(project, 'built')
  await mkdir(project, { recursive: true })
  await buildPackage(built)
  const { stdout } = await run('npm', ['pack', '--silent', built], { cwd: project })
  await writeFile(path.join(project, 'package.json'), '{ "private": true, "type": "module" }\n')
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', stdout.trim()], { cwd: project })
  await rename(built, path.join(project, 'not-installed')) // so that nothing resolves there
  return path.join(project, 'node_modules/@gateway/client')
}
