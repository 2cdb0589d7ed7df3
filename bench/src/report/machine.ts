import { execFile } from 'node:child_process'
import { cpus, release, totalmem, type } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

const projectFolder = path.resolve(import.meta.dirname, '../../..')

/** Machine, time and source revision of the figures, in one line. */
export async function describeRun(at: Date): Promise<string> {
  const processors = cpus()
  const machine = `${processors.length} × ${processors[0]?.model.trim() ?? 'unknown processor'}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release()}`
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC, ${await commit()}, Node ${process.version}, ${machine}`
}

async function commit(): Promise<string> {
  const git = (...words: string[]) => promisify(execFile)('git', words, { cwd: projectFolder })
  try {
    const [{ stdout: id }, { stdout: changed }] = [
      await git('rev-parse', '--short', 'HEAD'),
      await git('status', '--porcelain'),
    ]
    return `commit ${id.trim()}${changed ? ' with changes' : ''}`
  } catch {
    return 'not a git checkout'
  }
}
