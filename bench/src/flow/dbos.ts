import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '@gateway/local-stack/stack-ports'
import { startProgram, type RunningProgram } from '../stack/start-program.ts'
import type { Stops } from '../stack/stops.ts'

const DBOS_VERSION = '5.3.0'

export interface DbosProcess extends RunningProgram {
  /**
   * Runs this many workflows of this many steps, `concurrency` of them at a time. Returns the duration in milliseconds.
   */
  run(load: { workflows: number; concurrency: number; steps: number }): Promise<number>
}

interface Deps {
  /** Of the database for the tables of DBOS. */
  databaseUrl: string
  folder: string
  /** Where peers stay installed between benches. */
  peersFolder: string
  stops: Stops
  log: (line: string) => void
}

const file = (name: string) => path.join(import.meta.dirname, name)

/** Starts this many processes with durable DBOS workflows, in sequence: the first creates the tables. */
export async function startDbos(processes: number, deps: Deps): Promise<DbosProcess[]> {
  const { databaseUrl, folder, peersFolder, stops, log } = deps
  const library = await installDbos(peersFolder, log)
  const started: DbosProcess[] = []
  for (let n = 0; n < processes; n++) {
    const port = await freePort(undefined, 'DBOS')
    const url = `http://127.0.0.1:${port}`
    const program = await startProgram({
      name: `dbos-${n}`,
      entry: path.resolve(import.meta.dirname, '../chat-path/run-peer.ts'),
      args: [file('dbos-program.ts'), library, databaseUrl, String(port), `bench-${n}`],
      env: { NODE_ENV: 'production' },
      logFolder: folder,
      readyUrl: url,
    })
    stops.add(program.stop)
    started.push({
      ...program,
      async run(load) {
        const answer = await fetch(url, { method: 'POST', body: JSON.stringify(load) })
        const { tookMs } = (await answer.json()) as { tookMs: number }
        return tookMs
      },
    })
  }
  return started
}

/** Installs DBOS into a folder of the benches on first use, without running install scripts. Returns its entry. */
async function installDbos(folder: string, log: (line: string) => void): Promise<string> {
  const home = path.join(folder, `dbos-${DBOS_VERSION}`)
  const entry = path.join(home, 'node_modules/@dbos-inc/dbos-sdk/dist/src/index.js')
  if (existsSync(entry)) return entry
  log(`Installing @dbos-inc/dbos-sdk ${DBOS_VERSION}`)
  await mkdir(home, { recursive: true })
  await writeFile(path.join(home, 'package.json'), '{ "private": true }\n')
  const words = ['install', '--ignore-scripts', '--no-audit', '--no-fund', `@dbos-inc/dbos-sdk@${DBOS_VERSION}`]
  await promisify(execFile)('npm', words, { cwd: home })
  return entry
}
