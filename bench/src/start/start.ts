import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { inherited } from '@gateway/local-stack/service-environment'
import { temporaryFolder } from '@gateway/testbed/test-servers'
import type { BenchDeps } from '../bench.ts'
import { median } from '../load/figures.ts'
import { describeRun } from '../report/machine.ts'
import { ms, table } from '../report/table.ts'
import { sayTargets } from '../report/targets.ts'

// `npm start` on a machine where nothing has changed, against the same without the step that builds the console's page.

const WANTED_MORE_MS = 3_000
const READY_LIMIT_MS = 120_000
const top = path.resolve(import.meta.dirname, '../../..')
const node = process.execPath
const shell = (...commands: string[][]) => [
  'sh',
  '-c',
  commands.map((words) => words.map(quoted).join(' ')).join(' && '),
]
const quoted = (word: string) => `'${word.replaceAll("'", String.raw`'\''`)}'`

const variants = {
  'npm start': [node, path.join(top, 'bootstrap/start.js')],
  'without the page': shell(
    [node, path.join(top, 'packages/database/src/generate-command.ts')],
    ['exec', node, path.join(top, 'tools/local-stack/src/main.ts')],
  ),
  'the step of the page alone': [node, path.join(top, 'packages/console-page/src/build-command.ts')],
}

type Variant = keyof typeof variants

export async function start({ options, stops, tell }: BenchDeps): Promise<string> {
  const folder = await temporaryFolder('start')
  stops.add(() => rm(folder, { recursive: true, force: true }))
  const timed = new Map<Variant, number[]>(Object.keys(variants).map((name) => [name as Variant, []]))
  await startOnce(folder, 'npm start') // makes what the later ones find
  for (let n = 1; n <= options.rounds; n++) {
    for (const [name, taken] of timed)
      taken.push(name === 'the step of the page alone' ? await runOnce(name) : await startOnce(folder, name))
    tell(
      `round ${n} of ${options.rounds}: ${[...timed].map(([name, taken]) => `${name} ${ms(taken.at(-1)!)}`).join(', ')}`,
    )
  }
  return report(timed, await describeRun(new Date()))
}

/** Milliseconds until everything is ready; it is stopped before this answers. */
async function startOnce(folder: string, variant: Variant): Promise<number> {
  const ready = path.join(folder, 'ready.json')
  await rm(ready, { force: true })
  const begunMs = performance.now()
  const child = launch(variant, { DATA_FOLDER: folder, PORT: '0', STOP_WITH_PARENT: '1' })
  try {
    while (!existsSync(ready)) {
      if (child.exitCode !== null) throw new Error(`${variant} ended before it was ready.`)
      if (performance.now() - begunMs > READY_LIMIT_MS) throw new Error(`${variant} was not ready in time.`)
      await wait(10)
    }
    return performance.now() - begunMs
  } finally {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'exit')
  }
}

async function runOnce(variant: Variant): Promise<number> {
  const begunMs = performance.now()
  const [code] = (await once(launch(variant, {}), 'exit')) as [number | null]
  if (code !== 0) throw new Error(`${variant} ended with ${code}.`)
  return performance.now() - begunMs
}

function launch(variant: Variant, settings: Record<string, string>) {
  const [command, ...args] = variants[variant]
  const env = { ...inherited(process.env), ...settings }
  return spawn(command!, args, { cwd: top, env, stdio: ['pipe', 'ignore', 'inherit'] })
}

function report(timed: Map<Variant, number[]>, run: string): string {
  const of = (name: Variant) => median(timed.get(name)!)
  const more = of('npm start') - of('without the page')
  return [
    run,
    table(
      ['nothing changed since the last time', 'until ready'],
      [...timed].map(([name, taken]) => [name, ms(median(taken))]),
    ),
    sayTargets([{ what: 'what the page adds', wanted: WANTED_MORE_MS, found: more, better: 'less', say: ms }]),
  ].join('\n\n')
}
