import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { projectFolder } from '../render.ts'

const run = promisify(execFile)

/** Runs docker in the project's folder and returns what it printed. @throws Error with the command and its complaint */
export async function docker(...args: string[]): Promise<string> {
  return (await run('docker', args, { cwd: projectFolder, maxBuffer: 1 << 26 })).stdout.trim()
}

export const compose = (...args: string[]): Promise<string> => docker('compose', '--profile', 'simulated', ...args)

/** IDs of a service's containers. */
export async function containersOf(service: string): Promise<string[]> {
  return (await compose('ps', '--all', '--quiet', service)).split('\n').filter(Boolean)
}

/** Resolves once a container runs and is healthy. @throws Error after two minutes */
export async function whenHealthy(container: string): Promise<void> {
  const begun = Date.now()
  const format = '{{.State.Status}} {{if .State.Health}}{{.State.Health.Status}}{{else}}healthy{{end}}'
  while ((await docker('inspect', '--format', format, container)) !== 'running healthy') {
    if (Date.now() - begun > 120_000) throw new Error(`${container} is not healthy after two minutes.`)
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
}
