import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freePort } from './stack-ports.ts'
import { superviseProgram, type SupervisedProgram } from './supervise-program.ts'

const entry = path.join(import.meta.dirname, 'fixtures/small-program.ts')
let folder = ''
const running: SupervisedProgram[] = []
beforeEach(() => void (folder = mkdtempSync(path.join(tmpdir(), 'supervise ')))) // with a space in its name
afterEach(async () => {
  await Promise.all(running.splice(0).map((program) => program.stop()))
  rmSync(folder, { recursive: true })
})

async function start(env: Record<string, string> = {}, limits: { readyLimitMs?: number; stopLimitMs?: number } = {}) {
  const port = await freePort(undefined, 'a test')
  const logged: string[] = []
  const back = Promise.withResolvers<void>()
  const program = await superviseProgram(
    {
      name: 'small',
      entry,
      env: { PORT: String(port), STOP_WITH_PARENT: '1', ...env },
      logFile: path.join(folder, 'small.log'),
      readyUrl: `http://127.0.0.1:${port}/health/ready`,
    },
    {
      ...limits,
      backOffMs: 10,
      log: (line) => {
        logged.push(line)
        if (line === 'small is back') back.resolve()
      },
    },
  )
  running.push(program)
  const pid = async () => Number(await (await fetch(`http://127.0.0.1:${port}/pid`)).text())
  return { program, pid, logged, back: back.promise }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('a killed program is restarted, and both events are logged', async () => {
  const { pid, logged, back } = await start()
  const first = await pid()
  process.kill(first, 'SIGKILL')
  await back
  expect(await pid()).not.toBe(first)
  expect(logged).toEqual([
    `small died (SIGKILL), restarting it; see ${path.join(folder, 'small.log')}`,
    'small is back',
  ])
})

test('a program that is killed repeatedly is restarted each time', async () => {
  const { pid, program, logged } = await start()
  for (let round = 1; round <= 3; round++) {
    process.kill(await pid(), 'SIGKILL')
    await expect.poll(() => logged.filter((line) => line === 'small is back').length, { timeout: 20_000 }).toBe(round)
  }
  expect(program.pid).toBe(await pid())
})

test('a stopped program is not restarted', async () => {
  const { program, pid, logged } = await start()
  const first = await pid()
  await program.stop()
  expect(isAlive(first)).toBe(false)
  expect(logged).toEqual([])
})

test('a program that ignores SIGTERM is killed when its time is up', async () => {
  const { program, pid } = await start({ TROUBLE: 'ignores SIGTERM' }, { stopLimitMs: 50 })
  const first = await pid()
  await program.stop()
  expect(isAlive(first)).toBe(false)
})

test('a program that ends before it is ready is reported in one message with its last log lines', async () => {
  await expect(start({ TROUBLE: 'ends at once' })).rejects.toThrow(
    /small did not start \(exit code 1\)\. The end of .*small\.log:\n(.*\n)*.*nothing works today/,
  )
})

test('a program that is not ready in time is ended', async () => {
  await expect(start({ TROUBLE: 'never ready' }, { readyLimitMs: 700 })).rejects.toThrow(
    'small did not start (it was not ready within 700 ms)',
  )
})
