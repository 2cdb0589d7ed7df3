import { spawn } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { isatty } from 'node:tty'
import { askLine, type Io } from './io.ts'
import { CommandFailure, exitCodes, systemFailure } from './command-failure.ts'
import { plain, printFailure } from './print.ts'

/** The streams and system functions of this process. */
export function openIo(env: Io['env']): Io {
  const { stdin, stdout, stderr, platform } = process
  const isTerminal = { input: isatty(0), output: isatty(1), words: isatty(2) }
  let isLost = false
  let isWaitedFor = false
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    isLost = true
    if (isWaitedFor) return
    if (error.code === 'EPIPE') process.exit(exitCodes.done) // the reader has closed the pipe
    process.exit(printFailure(systemFailure(error, 'The standard output'), { say }))
  })
  stderr.on('error', () => {}) // there is nowhere to report it
  let onLine = false
  const endLine = () => {
    if (onLine) stderr.write('\r\u001B[K')
    onLine = false
  }

  function say(text: string): void {
    endLine()
    stderr.write(`${plain(text)}\n`)
  }

  return {
    env,
    get folder() {
      return known(process.cwd, 'The current folder no longer exists.', 'Change to another folder')
    },
    get homeFolder() {
      return known(homedir, 'Your home folder is unknown.', 'Set HOME or XDG_CONFIG_HOME')
    },
    platform,
    get program(): [string, string] {
      return [process.execPath, realpathSync(process.argv[1]!)]
    },
    isTerminal,
    write(text) {
      endLine()
      stdout.write(isTerminal.output ? plain(text) : text)
    },
    async isWritten() {
      isWaitedFor = true
      await new Promise((resolve) => stdout.write('', resolve))
      isWaitedFor = false
      return !isLost
    },
    say,
    progress(text) {
      if (!isTerminal.words) return
      stderr.write(`\r\u001B[K${plain(text).slice(0, (stderr.columns ?? 80) - 1)}`)
      onLine = true
    },
    async readInput() {
      let text = ''
      for await (const part of stdin.setEncoding('utf8')) text += String(part)
      return text
    },
    ask(question, { hidden = false, signal } = {}) {
      endLine()
      stderr.write(plain(question))
      return askLine({ input: stdin, output: stderr, hidden, signal }, () => process.exit(130))
    },
    openBrowser(address) {
      const program = { darwin: 'open', win32: 'explorer' }[platform as string] ?? 'xdg-open'
      spawn(program, [address], { detached: true, stdio: 'ignore' })
        .on('error', () => {}) // the address is printed too
        .unref()
    },
    wait: (ms) => wait(ms),
    now: () => Date.now(),
  }
}

function known(read: () => string, message: string, resolution: string): string {
  try {
    return read()
  } catch {
    throw new CommandFailure(message, resolution)
  }
}
