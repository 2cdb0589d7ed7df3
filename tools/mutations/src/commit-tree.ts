import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)
const MOST_BYTES = 16 * 1024 * 1024

/** The files of a commit, read-only. */
export interface CommitTree {
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
