import { spawn } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { isatty } from 'node:tty'
import type { Io } from './io.ts'
import { plain } from './plain.ts'

/** What this process has, for its command. */
export function openIo(env: Io['env']): Io {
  const { stdin, stdout, stderr, platform } = process
  const isTerminal = { input: isatty(0), output: isatty(1), words: isatty(2) }
  stdout.on('error', () => process.exit(0)) // whoever read it has enough
  let onLine = false
  const endLine = () => {
    if (onLine) stderr.write('\r\u001B[K')
    onLine = false
  }

  return {
    env,
    folder: process.cwd(),
    homeFolder: homedir(),
    platform,
    program: [process.execPath, realpathSync(process.argv[1]!)],
    isTerminal,
    write(text) {
      endLine()
      stdout.write(isTerminal.output ? plain(text) : text)
    },
    say(text) {
      endLine()
      stderr.write(`${plain(text)}\n`)
    },
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
      stderr.write(question)
      const nowhere = new Writable({ write: (_part, _encoding, done) => done() })
      const lines = createInterface({ input: stdin, output: hidden ? nowhere : stderr, terminal: true })
      return new Promise((resolve, reject) => {
        const abort = () => {
          lines.close()
          stderr.write('\n')
          reject(signal?.reason as Error)
        }
        signal?.addEventListener('abort', abort)
        lines.once('line', (line) => {
          signal?.removeEventListener('abort', abort)
          lines.close()
          if (hidden) stderr.write('\n')
          resolve(line)
        })
        lines.once('SIGINT', () => process.exit(130))
      })
    },
    openBrowser(address) {
      const program = { darwin: 'open', win32: 'explorer' }[platform as string] ?? 'xdg-open'
      spawn(program, [address], { detached: true, stdio: 'ignore' })
        .on('error', () => {}) // the address is said too
        .unref()
    },
    wait: (ms) => wait(ms),
    now: () => Date.now(),
  }
}
