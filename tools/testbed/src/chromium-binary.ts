import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const names = ['chromium', 'chromium-headless-shell', 'google-chrome', 'google-chrome-stable', 'chromium-browser']
const INSTALL_MS = 600_000

/**
 * Finds a Chromium, in which the console is tested, and answers its file: the one that `CHROMIUM` names, else one on the PATH, else, for root on
 * Debian or Ubuntu, the package of the distribution, which is installed. Throws one message with the remedies if there is
 * none of them.
 */
export async function findChromium({
  log = (line: string) => console.log(line),
  env = process.env,
  isRoot = process.getuid?.() === 0,
}: {
  log?: (line: string) => void
  /** With the PATH to look in. */
  env?: NodeJS.ProcessEnv
  isRoot?: boolean
} = {}): Promise<string> {
  const named = env['CHROMIUM']
  if (named) {
    if (await runs(named, env)) return named
    throw new Error(`CHROMIUM is ${named}, which does not run. Name a Chromium, or leave it empty.`)
  }
  const found = await firstThatRuns(env)
  if (found) return found
  const problem = isRoot ? await install(log, env) : 'installing the package needs root.'
  const installed = await firstThatRuns(env)
  if (installed) return installed
  throw new Error(
    [
      'A Chromium is needed to test the console, and there is none here. One of these mends it:',
      '  1. install chromium or google-chrome (Debian: apt-get install chromium; macOS: brew install chromium),',
      '  2. set CHROMIUM to the program of one.',
      ...(problem === null ? [] : [`(Installing the package of the distribution did not work: ${problem})`]),
    ].join('\n'),
  )
}

async function firstThatRuns(env: NodeJS.ProcessEnv): Promise<string | null> {
  const folders = (env['PATH'] ?? '').split(path.delimiter)
  for (const file of names.flatMap((name) => folders.map((folder) => path.join(folder, name))))
    if (await runs(file, env)) return file
  return null
}

function runs(command: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  return run(command, ['--version'], { env, timeout: 20_000 }).then(
    () => true,
    () => false,
  )
}

/** Answers why it could not be installed, or null. Package lists that are empty or too old are read anew first. */
async function install(log: (line: string) => void, env: NodeJS.ProcessEnv): Promise<string | null> {
  const aptGet = (...args: string[]) =>
    run('apt-get', ['-q', '-y', '-o', 'DPkg::Lock::Timeout=300', ...args], {
      env: { ...env, DEBIAN_FRONTEND: 'noninteractive' },
      timeout: INSTALL_MS,
      maxBuffer: 64 * 1024 * 1024,
    })
  const installing = () => aptGet('install', '--no-install-recommends', 'chromium')
  log('Chromium: installing the package of this distribution')
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
