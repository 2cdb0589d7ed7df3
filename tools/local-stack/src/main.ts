// The program of `npm start`: everything on this machine, from an empty folder to one screen with a key.
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { seed } from '@gateway/prisma/seed'
import { ConfigurationError } from '@gateway/service-kit/process/config'
import { createLifecycle } from '@gateway/service-kit/process/open-service'
import { onStopSignals, wrongConfigurationExit } from '@gateway/service-kit/process/run-service'
import { holdFolder } from './only-once.ts'
import { readyScreen } from './ready-facts.ts'
import { createScreen } from './screen.ts'
import { readStackConfig } from './stack-config.ts'
import { startStack } from './start-stack.ts'

process.stderr.on('error', () => {}) // its reader may be gone, and the parts must still stop in order
const screen = createScreen(process.stdout, () => performance.now())
const lifecycle = createLifecycle({
  log: { info: () => {}, error: (_facts: unknown, message?: string) => screen.print(message ?? '') },
})

try {
  const config = readStackConfig(process.env)
  await holdDataFolder(config.DATA_FOLDER)
  onStopSignals({
    source: process,
    env: process.env,
    stop: (reason) => void stop(reason),
    force: () => process.exit(1), // the watchdogs and STOP_WITH_PARENT end the rest
    now: () => performance.now(),
  })
  const ready = await startStack({ config, env: process.env, screen, lifecycle, seed })
  screen.print(readyScreen(ready, path.join(config.DATA_FOLDER, 'ready.json')))
} catch (error) {
  if (!lifecycle.stopping.aborted) await fail(error) // a failure caused by an early stop isn't news
}

async function holdDataFolder(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  let waiting = false
  for (;;) {
    const hold = await holdFolder(folder, () => ({ pid: process.pid, stopping: lifecycle.stopping.aborted }))
    if (hold.kind === 'held') return lifecycle.onStop('data folder', hold.release)
    if (hold.kind === 'silent') {
      const { pid } = hold
      throw new ConfigurationError([
        `It is already running in ${folder}${pid === null ? '' : ` (process ${pid})`}, but does not respond. It may be suspended.`,
        `Continue it with \`fg\` in its terminal${pid === null ? '' : `, or end it: kill -9 ${pid}`}`,
      ])
    }
    if (!hold.by.stopping) {
      throw new ConfigurationError([
        `It is already running in ${folder} (process ${hold.by.pid}); its address and key are in ${path.join(folder, 'ready.json')}.`,
        'Stop it with Ctrl-C, or start another one: DATA_FOLDER=.local-2 PORT=0 npm start',
      ])
    }
    if (!waiting) screen.print(`  Waiting for process ${hold.by.pid}, which is stopping…`)
    waiting = true
    await wait(200)
  }
}

async function stop(reason: string): Promise<void> {
  screen.print(`\n  Stopping (${reason})…`)
  const clean = await lifecycle.stop(reason)
  screen.print(clean ? '  Everything has stopped.' : '  Stopped, but not every part shut down cleanly.')
  process.exit(clean ? 0 : 1)
}

async function fail(error: unknown): Promise<never> {
  const wrongConfiguration = error instanceof ConfigurationError
  const text = wrongConfiguration || !(error instanceof Error) ? String(error) : error.message
  const lines = wrongConfiguration ? error.problems : text.split('\n')
  process.stderr.write(`\n  It can't start:\n${lines.map((line) => `  ${line}\n`).join('')}`)
  await lifecycle.stop('could not start')
  process.exit(wrongConfiguration ? wrongConfigurationExit : 1)
}
