import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const INSTALL_MS = 600_000
/** Test files may install packages concurrently, and apt-get does not wait for another one that refreshes the lists. */
const LOCK = '/var/lock/gateway-tests.apt'

export interface Machine {
  log?: (line: string) => void
  /** With the PATH to search. */
  env?: NodeJS.ProcessEnv
  isRoot?: boolean
}

/**
 * Finds the file of a program that tests need: the first of these names on the PATH that runs, else, for root on Debian
 * or Ubuntu, that of the distribution's package, which it installs. Returns the problem if none is available.
 */
export async function findProgram(
  names: readonly string[],
  packageName: string,
  { log = (line) => console.log(line), env = process.env, isRoot = process.getuid?.() === 0 }: Machine = {},
): Promise<{ file: string } | { problem: string }> {
  const found = await firstThatRuns(names, env)
  if (found) return { file: found }
  if (!isRoot) return { problem: 'installing the package needs root.' }
  log(`${packageName}: installing the package of this distribution`)
  const problem = await install(packageName, env)
  const installed = await firstThatRuns(names, env)
  return installed ? { file: installed } : { problem: problem ?? 'what it brought does not run.' }
}

export function runs(command: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  return run(command, ['--version'], { env, timeout: 20_000 }).then(
    () => true,
    () => false,
  )
}

async function firstThatRuns(names: readonly string[], env: NodeJS.ProcessEnv): Promise<string | null> {
  const folders = (env['PATH'] ?? '').split(path.delimiter)
  for (const file of names.flatMap((name) => folders.map((folder) => path.join(folder, name))))
    if (await runs(file, env)) return file
  return null
}

/** Returns why it could not be installed, or null. Refreshes package lists first if they are empty or outdated. */
async function install(packageName: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  const aptGet = (...args: string[]) =>
    run('flock', [LOCK, 'apt-get', '-q', '-y', '-o', 'DPkg::Lock::Timeout=300', ...args], {
      env: { ...env, DEBIAN_FRONTEND: 'noninteractive' },
      timeout: INSTALL_MS,
      maxBuffer: 64 * 1024 * 1024,
    })
  const installing = () => aptGet('install', '--no-install-recommends', packageName)
  try {
    await installing().catch(async () => {
      await aptGet('update')
      await installing()
    })
    return null
  } catch (error) {
    return String(error)
  }
}
