import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { CommitTree } from './commit-tree.ts'
import { awaitNoneIn, runGroup } from './end-group.ts'
import { readTestReport, type TestsOutcome } from './test-report.ts'

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
