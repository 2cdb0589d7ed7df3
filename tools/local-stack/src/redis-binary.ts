import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { findDockerImage } from './docker-image.ts'

export const REDIS_IMAGE = 'redis:8.2-alpine'

const run = promisify(execFile)
const servers = ['redis-server', 'valkey-server']

/** How to start a Redis server: the command to prepend to its settings. */
export interface RedisBinary {
  from: 'path' | 'docker' | 'debian'
  command: string[]
}

/**
 * Finds a Redis or Valkey server: on the PATH, else a Docker engine that has its image or can fetch it, else the
 * package of Debian or Ubuntu unpacked into `cacheFolder`. Throws one message with the remedies if none is available.
 *
 * The package is unpacked instead of installed, also for root: installing would start a system service, and the machine
 * is not ours to change.
 */
export async function findRedis({
  cacheFolder,
  log,
  env = process.env,
}: {
  cacheFolder: string
  log: (line: string) => void
  /** With the PATH to search. */
  env?: NodeJS.ProcessEnv
}): Promise<RedisBinary> {
  for (const server of servers) {
    if (await runs([server, '--version'], env)) return { from: 'path', command: [server] }
  }
  const docker = await findDockerImage(REDIS_IMAGE, { env, log: (line) => log(`Redis: ${line}`) })
  if (docker === 'there') return { from: 'docker', command: ['docker'] }
  const fetching = docker === 'no engine' ? null : `Docker can't fetch ${REDIS_IMAGE}: ${docker.problem}`
  if (fetching) log(`Redis: ${fetching}; continuing with the package of this distribution`)
  const problem = await unpackDebianPackage(cacheFolder, log, env).then(
    () => null,
    (error: Error) => error.message,
  )
  const unpacked = await findUnpacked(cacheFolder, env)
  if (unpacked) return unpacked
  throw new Error(
    [
      'Redis is required but was not found. Do one of these:',
      '  1. install redis-server or valkey-server (Debian: apt-get install redis-server; macOS: brew install redis),',
      '  2. start Docker,',
      '  3. set REDIS_URL to another Redis.',
      ...(fetching ? [`(${fetching})`] : []),
      ...(problem ? [`(Unpacking the Debian package failed: ${problem})`] : []),
    ].join('\n'),
  )
}

async function findUnpacked(cacheFolder: string, env: NodeJS.ProcessEnv): Promise<RedisBinary | null> {
  const triplets = await readdir(path.join(cacheFolder, 'usr/lib')).catch(() => [])
  const libraries = ['', ...triplets].map((triplet) => path.join(cacheFolder, 'usr/lib', triplet))
  for (const server of servers) {
    const command = ['env', `LD_LIBRARY_PATH=${libraries.join(':')}`, path.join(cacheFolder, 'usr/bin', server)]
    if (await runs([...command, '--version'], env)) return { from: 'debian', command }
  }
  return null
}

async function runs([command = '', ...args]: string[], env: NodeJS.ProcessEnv): Promise<boolean> {
  return run(command, args, { env, timeout: 5_000 }).then(
    () => true,
    () => false,
  )
}

/** Downloads the package and its missing dependencies, as root or not, and unpacks them. */
async function unpackDebianPackage(
  cacheFolder: string,
  log: (line: string) => void,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  if (await findUnpacked(cacheFolder, env)) return
  if (!(await runs(['apt-get', '--version'], env))) throw new Error('this is neither Debian nor Ubuntu.')
  await mkdir(path.dirname(cacheFolder), { recursive: true })
  const work = await mkdtemp(`${cacheFolder}.`)
  try {
    log('Redis: unpacking the package of this distribution')
    const { packages, options } = await missingPackages(work)
    await run('apt-get', ['-q', ...options, 'download', ...packages], { cwd: work })
    for (const file of await readdir(work)) {
      if (file.endsWith('.deb')) await run('dpkg', ['-x', path.join(work, file), path.join(work, 'root')])
    }
    if (await findUnpacked(cacheFolder, env)) return // another process was faster
    await rm(cacheFolder, { recursive: true, force: true })
    await rename(path.join(work, 'root'), cacheFolder)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/**
 * Asks apt what an installation would add; with separate package lists if those of the machine are empty or outdated.
 */
async function missingPackages(work: string): Promise<{ packages: string[]; options: string[] }> {
  const root = process.getuid?.() === 0 ? ['-o', 'APT::Sandbox::User=root'] : []
  const lists = path.join(work, 'lists')
  const ownLists = [...root, '-o', `Dir::State::lists=${lists}`, '-o', `Dir::Cache=${path.join(work, 'cache')}`]
  for (const options of [root, ownLists]) {
    if (options === ownLists) {
      await mkdir(path.join(lists, 'partial'), { recursive: true })
      await mkdir(path.join(work, 'cache/archives/partial'), { recursive: true })
      await run('apt-get', ['-q', ...options, 'update'])
    }
    for (const server of servers) {
      const ask = ['-q', ...options, 'install', '--simulate', '--no-install-recommends', server]
      const plan = await run('apt-get', ask).then(
        ({ stdout }) => stdout,
        () => '',
      )
      const lacking = [...plan.matchAll(/^Inst (\S+)/gm)].map((match) => match[1] ?? '')
      // The server is a link into its tools, which may be installed already and are then not missing.
      if (lacking.length > 0)
        return { packages: [...new Set([...lacking, server.replace('server', 'tools')])], options }
    }
  }
  throw new Error('the distribution has neither redis-server nor valkey-server.')
}
