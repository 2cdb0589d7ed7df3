import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { readTestReport, type TestsOutcome } from './verdict.ts'
import { execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'

// An installed copy of a tree, in which files can be mutated and tests run. It is in a temporary folder and its tests
// write only inside it, so one removal deletes everything.

export interface ThrowAwayCopy {
  read(file: string): Promise<string>
  write(file: string, text: string): Promise<void>
  /** Runs the tests whose path matches, up to the first failure. */
  test(filters: readonly string[]): Promise<TestsOutcome | { kind: 'late' }>
  /** Waits for all of its processes and removes it. */
  remove(): Promise<void>
}

interface Options {
  projectFolder: string
  env: NodeJS.ProcessEnv
  /** Time limit for the tests of one mutation. */
  limitMs: number
  stop: AbortSignal
}

/** @throws Error if it can't be installed; the reason of `stop` */
export async function makeCopy(
  tree: CommitTree,
  { projectFolder, env, limitMs, stop }: Options,
): Promise<ThrowAwayCopy> {
  const whole = await realpath(await mkdtemp(path.join(tmpdir(), 'mutations-')))
  const folder = path.join(whole, 'tree')
  const temporary = path.join(whole, 't') // short, because socket paths have a small limit
  const inside = (file: string) => path.join(folder, file)
  const bin = inside('node_modules/.bin')
  const own = { ...env, TMPDIR: temporary, PATH: `${bin}${path.delimiter}${env['PATH'] ?? ''}` }

  async function program(command: string, args: string[], ms: number) {
    const ended = await runGroup({ command, args, cwd: folder, env: own, limitMs: ms, stop })
    await awaitNoneIn(whole)
    stop.throwIfAborted()
    return ended
  }

  async function remove(): Promise<void> {
    await awaitNoneIn(whole)
    await rm(whole, { recursive: true, force: true, maxRetries: 5 })
  }

  try {
    await chmod(whole, 0o755) // as root, Postgres runs as another user, who needs access to its data
    await mkdir(folder)
    await mkdir(temporary)
    await tree.writeTo(folder)
    await shareRedis(projectFolder, folder)
    const { code, output } = await program(process.execPath, ['-e', INSTALL], INSTALL_MS)
    if (code !== 0) throw new Error(`The copy could not be installed.\n${output}`)
  } catch (error) {
    await remove()
    throw error
  }

  return {
    read: (file) => readFile(inside(file), 'utf8'),
    write: (file, text) => writeFile(inside(file), text),
    async test(filters) {
      const report = path.join(whole, 'report.json')
      await rm(report, { force: true })
      const args = ['run', '--bail=1', '--reporter=json', `--outputFile.json=${report}`, ...filters]
      const { code, why, output } = await program(path.join(bin, 'vitest'), args, limitMs)
      if (why === 'late') return { kind: 'late' }
      const text = existsSync(report) ? await readFile(report, 'utf8') : null
      const outcome = readTestReport(text, code ?? 1, folder)
      return outcome.kind === 'none' ? { ...outcome, why: `${outcome.why}\n${output.trimEnd()}` } : outcome
    },
    remove,
  }
}

/** Shares only the unpacked server: the copy builds everything else itself. */
async function shareRedis(from: string, to: string): Promise<void> {
  const binaries = path.join(from, '.cache/redis')
  if (!existsSync(binaries)) return
  await mkdir(path.join(to, '.cache'))
  await symlink(binaries, path.join(to, '.cache/redis'))
}

/** With the tree's own installer. */
const INSTALL = "import('./bootstrap/install.js').then(({ ensureInstalled }) => ensureInstalled())"
const INSTALL_MS = 600_000

const run = promisify(execFile)
const MOST_BYTES = 16 * 1024 * 1024

/** The files of a commit, read-only. */
interface CommitTree {
  /** Its full hash. */
  commit: string
  /** Returns null if the file does not exist. */
  read(file: string): Promise<string | null>
  /** Writes all files into a folder. It contains nothing of git, so nothing is left in the repository either. */
  writeTo(folder: string): Promise<void>
}

/** @throws Error if git does not know the commit */
export async function openCommit(projectFolder: string, name: string): Promise<CommitTree> {
  const git = (...args: string[]) => run('git', ['-C', projectFolder, ...args], { maxBuffer: MOST_BYTES })
  const found = await git('rev-parse', '--verify', '--quiet', `${name}^{commit}`).catch(() => null)
  if (found === null) throw new Error(`git knows no commit called ${name}.`)
  const commit = found.stdout.trim()
  return {
    commit,
    read: (file) =>
      git('show', `${commit}:${file}`).then(
        ({ stdout }) => stdout,
        () => null,
      ),
    async writeTo(folder) {
      const archive = `${folder}.tar`
      await git('archive', '--format=tar', `--output=${archive}`, commit)
      await run('tar', ['-xf', archive, '-C', folder])
      await run('rm', [archive])
    },
  }
}

// Runs a program and ends it with everything that it started.
//   G1  It leads a process group, so Ctrl-C in a terminal reaches only this process, and the group ends as one.
//   G2  Processes outside the group (the watchdogs of embedded servers, in separate sessions) end by themselves once
//       their starter is gone. They are recognized by the folder of the copy in their command line, and must end before
//       the folder is removed.

interface Ended {
  /** Null if this process ended it. */
  code: number | null
  why: 'ended' | 'late' | 'stopped'
  output: string
}

interface Program {
  command: string
  args: string[]
  cwd: string
  env: NodeJS.ProcessEnv
  limitMs: number
  stop: AbortSignal
}

/** Runs a program to its end, to its time limit, or until `stop`. Returns its output. */
async function runGroup({ command, args, cwd, env, limitMs, stop }: Program): Promise<Ended> {
  stop.throwIfAborted()
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] }) // G1
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => void (output = (output + part.toString()).slice(-MOST_CHARACTERS)))
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code) => resolve(code ?? 1))
  })
  let why: Ended['why'] = 'ended'
  const end = (because: Ended['why']) => {
    why = because
    signalGroup(child.pid, 'SIGKILL')
  }
  const timer = setTimeout(() => end('late'), limitMs)
  const onStop = () => end('stopped')
  stop.addEventListener('abort', onStop)
  try {
    const code = await ended
    return { code: why === 'ended' ? code : null, why, output }
  } finally {
    clearTimeout(timer)
    stop.removeEventListener('abort', onStop)
    signalGroup(child.pid, 'SIGKILL') // processes that it left behind
  }
}

/** Waits until no process of the copy is left, and kills those that take too long (G2). */
async function awaitNoneIn(folder: string): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += LOOK_MS) {
    const left = await processesIn(folder)
    if (left.length === 0) return
    if (waitedMs >= PATIENCE_MS) for (const pid of left) signal(pid, 'SIGKILL')
    await delay(LOOK_MS)
  }
}

const MOST_CHARACTERS = 20_000
const LOOK_MS = 200
const PATIENCE_MS = 20_000

async function processesIn(folder: string): Promise<number[]> {
  const list = spawn('ps', ['-axww', '-o', 'pid=,command='], { stdio: ['ignore', 'pipe', 'ignore'] })
  let text = ''
  for await (const part of list.stdout) text += String(part)
  return text
    .split('\n')
    .filter((line) => line.includes(folder))
    .map((line) => Number.parseInt(line, 10))
    .filter((pid) => pid !== process.pid)
}

function signalGroup(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid !== undefined) signal(-pid, name)
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // it has ended
  }
}
