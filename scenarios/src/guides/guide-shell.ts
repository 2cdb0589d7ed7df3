import { spawn } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'

export type GuideShell = ReturnType<typeof openShell>

/** Environment of a shell whose home is its folder, with this Node. */
export function homeOf(folder: string, variables: Record<string, string> = {}): Record<string, string> {
  const { PATH = '' } = process.env
  return { PATH: [path.dirname(process.execPath), PATH].join(path.delimiter), HOME: folder, ...variables }
}

/** Opens a bash process that keeps its variables from block to block. */
export function openShell(folder: string, environment: Record<string, string>) {
  const bash = spawn('bash', ['--noprofile', '--norc'], { cwd: folder, env: environment, detached: true })
  bash.stdin.write("exec 2>&1; set -o pipefail; trap 'failed=$?' ERR\n")
  let count = 0

  /** Runs commands and returns stdout and stderr combined. @throws Error if a command fails */
  async function run(commands: string): Promise<string> {
    const file = path.join(folder, `.block-${count++}.sh`)
    const mark = `\nthe end of ${file}: `
    await writeFile(file, commands)
    const printed = untilMark(mark)
    bash.stdin.write(`failed=0; . ${file} </dev/null; printf '${mark.replace('\n', '\\n')}%d\\n' "$failed"\n`)
    const [text = '', status] = (await printed).split(mark)
    if (Number(status) !== 0) throw new Error(`A command exited with ${status}:\n${commands}\n${text}`)
    return text
  }

  function untilMark(mark: string): Promise<string> {
    return new Promise((resolve, reject) => {
      let text = ''
      const read = (data: Buffer) => {
        text += data.toString()
        const end = text.indexOf(mark)
        if (end < 0 || !text.endsWith('\n') || text.length === end + mark.length) return
        bash.stdout.off('data', read)
        bash.off('exit', ended)
        resolve(text)
      }
      const ended = () => reject(new Error(`The shell exited:\n${text}`))
      bash.stdout.on('data', read)
      bash.once('exit', ended)
    })
  }

  return {
    run,
    /** Kills the shell and every process that the guide left running. */
    async close(): Promise<void> {
      if (bash.exitCode === null && bash.signalCode === null) {
        const ended = new Promise((resolve) => void bash.once('exit', resolve))
        process.kill(-bash.pid!, 'SIGKILL')
        await ended
      }
      await killDaemons(folder)
    },
  }
}

/** Kills what left the group of the shell, such as the daemon of an agent: by its home, where the system shows it. */
async function killDaemons(home: string): Promise<void> {
  for (const pid of (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))) {
    const variables = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
    if (variables.split('\0').includes(`HOME=${home}`)) killIfThere(Number(pid))
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
