import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { scriptedTest } from '@gateway/api-client/scripted-server'
import { commands } from './commands/command-table.ts'
import type { Io } from './frame/io.ts'
import { runCommand } from './frame/run-command.ts'
import { buildCommandLine } from './build-command-line.ts'

interface Ended {
  code: number | null
  /** Standard output. */
  output: string
  words: string
}

/** `scriptedTest` with the built command in an empty folder and with an empty home; the server acts as its gateway. */
export const builtTest = scriptedTest
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
  .extend('program', { scope: 'file' }, async ({}, { onCleanup }) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'gateway-built-'))
    onCleanup(() => rm(folder, { recursive: true, force: true }))
    return buildCommandLine(folder)
  })
  .extend('line', async ({ program, server }, { onCleanup }) => {
    const home = await mkdtemp(path.join(tmpdir(), 'gateway-home-'))
    onCleanup(() => rm(home, { recursive: true, force: true }))
    const folder = path.join(home, 'work')
    await mkdir(folder)
    const signedIn = { GATEWAY_URL: server.url, GATEWAY_TOKEN: 'svu_1' }

    /** Runs shell lines, in which `gateway` is the command. */
    function shell(lines: string, env: Record<string, string> = signedIn): Promise<Ended> {
      const text = `gateway() { '${process.execPath}' '${program}' "$@"; }\n${lines}`
      const child = spawn('bash', ['-c', text], {
        cwd: folder,
        env: { PATH: process.env['PATH'], HOME: home, GATEWAY_ORGANIZATION: 'ten_1', GATEWAY_PROJECT: 'prj_1', ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const ended: Ended = { code: null, output: '', words: '' }
      child.stdout.setEncoding('utf8').on('data', (part: string) => (ended.output += part))
      child.stderr.setEncoding('utf8').on('data', (part: string) => (ended.words += part))
      return new Promise((resolve, reject) => {
        child.once('error', reject)
        child.once('close', (code) => resolve({ ...ended, code }))
      })
    }
    /**
     * Runs one command in this process: `gateway` and its arguments, without quotes.
     * @param input on standard input
     * @param isShown whether the output is a terminal
     * @param answer answers each question; without it, the input is not a terminal
     */
    async function ask(
      asked: string,
      env: Record<string, string> = signedIn,
      { input = '', isShown = false, answer }: { input?: string; isShown?: boolean; answer?: Io['ask'] } = {},
    ): Promise<Ended> {
      const ended: Ended = { code: null, output: '', words: '' }
      const io: Io = {
        env: { GATEWAY_ORGANIZATION: 'ten_1', GATEWAY_PROJECT: 'prj_1', ...env },
        folder,
        homeFolder: home,
        platform: process.platform,
        program: [process.execPath, program],
        isTerminal: { input: answer !== undefined, output: isShown, words: false },
        write: (text) => void (ended.output += text),
        isWritten: () => Promise.resolve(true),
        say: (text) => void (ended.words += `${text}\n`),
        progress: () => {},
        readInput: () => Promise.resolve(input),
        ask: answer ?? (() => Promise.resolve('')),
        openBrowser: () => {},
        wait: () => Promise.resolve(),
        now: () => Date.now(),
      }
      ended.code = await runCommand(commands, asked.split(' ').slice(1), io)
      return ended
    }
    return { home, folder, shell, ask, settings: path.join(home, '.config/gateway') }
  })
