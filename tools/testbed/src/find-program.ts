import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const INSTALL_MS = 600_000
/** Test files may install packages concurrently, and apt-get does not wait for another one that refreshes the lists. */
const LOCK = '/var/lock/gateway-tests.apt'

interface Machine {
  log?: (line: string) => void
  /** With the PATH to search. */
  env?: NodeJS.ProcessEnv
  isRoot?: boolean
}

/**
 * Finds the file of a program that tests need: the first of these names on the PATH that runs, else, for root on Debian
 * or Ubuntu, that of the distribution's package, which it installs. Returns the problem if none is available.
 */
async function findProgram(
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

function runs(command: string, env: NodeJS.ProcessEnv): Promise<boolean> {
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

/**
 * Finds a shell, such as zsh, and returns its file; for root on Debian or Ubuntu it installs the package. Throws a
 * message with the resolution.
 */
export async function findShell(name: string, machine: Machine = {}): Promise<string> {
  const found = await findProgram([name], name, machine)
  if ('file' in found) return found.file
  throw new Error(
    `${name} is needed to test what it completes, and it is not here. Install it (Debian: apt-get install ${name}; macOS: brew install ${name}). (${found.problem})`,
  )
}

const names = ['chromium', 'chromium-headless-shell', 'google-chrome', 'google-chrome-stable', 'chromium-browser']

/**
 * Finds a Chromium for the tests of the console, and returns its file: the one named in `CHROMIUM`, else one on the
 * PATH, else, for root on Debian or Ubuntu, the package of the distribution, which it installs. Throws one message with
 * the remedies if none is available.
 */
export async function findChromium(machine: Machine = {}): Promise<string> {
  const { env = process.env } = machine
  const named = env['CHROMIUM']
  if (named) {
    if (await runs(named, env)) return named
    throw new Error(`CHROMIUM is ${named}, which does not run. Name a Chromium, or leave it empty.`)
  }
  const found = await findProgram(names, 'chromium', machine)
  if ('file' in found) return found.file
  throw new Error(
    [
      'A Chromium is needed to test the console, and there is none here. One of these mends it:',
      '  1. install chromium or google-chrome (Debian: apt-get install chromium; macOS: brew install chromium),',
      '  2. set CHROMIUM to the program of one.',
      `(Installing the package of the distribution failed: ${found.problem})`,
    ].join('\n'),
  )
}
