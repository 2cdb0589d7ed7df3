import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { holdFolder } from './only-once.ts'

let folder = ''
beforeEach(() => void (folder = mkdtempSync(path.join(tmpdir(), 'npm-start-'))))
afterEach(() => rmSync(folder, { recursive: true }))

const main = path.join(import.meta.dirname, 'main.ts')

/** Runs the program to its end and returns its output and exit code. */
async function start(env: Record<string, string>) {
  return promisify(execFile)(process.execPath, [main], { env: { DATA_FOLDER: folder, ...env } }).then(
    () => ({ code: 0, stderr: '' }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, stderr }),
  )
}

test('a second start on a folder in use prints one message and changes nothing', async () => {
  const hold = await holdFolder(folder, () => ({ pid: 4711, stopping: false }))
  const before = readdirSync(folder)
  expect(await start({})).toEqual({
    code: 78,
    stderr: `
  It can't start:
  It is already running in ${folder} (process 4711); its address and key are in ${path.join(folder, 'ready.json')}.
  Stop it with Ctrl-C, or start another one: DATA_FOLDER=.local-2 PORT=0 npm start
`,
  })
  expect(readdirSync(folder)).toEqual(before)
  if (hold.kind === 'held') await hold.release()
})

test('a start on a folder whose owner is suspended says how to continue or end it', async () => {
  const owner = spawn(process.execPath, [path.join(import.meta.dirname, 'fixtures/folder-owner.ts'), folder])
  await once(owner.stdout, 'data')
  owner.kill('SIGSTOP')
  expect(await start({})).toEqual({
    code: 78,
    stderr: `
  It can't start:
  It is already running in ${folder} (process ${owner.pid}), but does not respond. It may be suspended.
  Continue it with \`fg\` in its terminal, or end it: kill -9 ${owner.pid}
`,
  })
  owner.kill('SIGKILL')
})

test('all invalid variables are reported at once', async () => {
  expect(await start({ PORT: 'x', LOG_LEVEL: 'loud' })).toEqual({
    code: 78,
    stderr: `
  It can't start:
  PORT (Port of the gateway) is wrong: expected a whole number from 0 to 65535; it is "x".
  LOG_LEVEL (Least severity in the log files) is wrong: expected one of "fatal"|"error"|"warn"|"info"|"debug"|"trace"; it is "loud".
`,
  })
})

test('a start that fails ends with its exit code after the reader of its output is gone', async () => {
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  const { port } = holder.address() as AddressInfo
  const child = spawn(process.execPath, [main], { env: { DATA_FOLDER: folder, PORT: String(port) }, stdio: 'pipe' })
  child.stdout.destroy()
  child.stderr.destroy()
  expect(await once(child, 'exit')).toEqual([78, null])
  holder.close()
})
