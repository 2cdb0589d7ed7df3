import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'

const limitMs = 30_000

/** Runs a line of JavaScript with Node 24 through bootstrap/tool.js, like the commands in package.json. */
function runLine(line: string, { from = import.meta.dirname } = {}) {
  const child = spawn(process.execPath, [path.join(from, 'tool.js'), 'node', '-e', line], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (text) => (output += String(text)))
  return { child, ended: once(child, 'close').then(([code]) => ({ code: code as number, output })) }
}

test('tool.js runs Node 24 and passes arguments, output and exit code through', { timeout: limitMs }, async () => {
  const line = "console.log(process.version.split('.')[0], 'two words'); process.exitCode = 7"
  expect(await runLine(line).ended).toEqual({ code: 7, output: 'v24 two words\n' })
})

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('tool.js forwards %s', { timeout: limitMs }, async (signal) => {
  const line = `process.on('${signal}', () => process.exit(9)); console.log('up'); setInterval(() => {}, 60000)`
  const { child, ended } = runLine(line)
  await once(child.stdout, 'data')
  child.kill(signal)
  expect(await ended).toEqual({ code: 9, output: 'up\n' })
})

test('tool.js reports a program ended by a signal in its exit code', { timeout: limitMs }, async () => {
  expect(await runLine("process.kill(process.pid, 'SIGKILL')").ended).toEqual({ code: 137, output: '' })
})

test('tool.js works in a folder behind a link with a space in its name', { timeout: limitMs }, async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'a link '))
  symlinkSync(path.join(import.meta.dirname, '..'), path.join(folder, 'project'))
  expect((await runLine('console.log(1)', { from: path.join(folder, 'project/bootstrap') }).ended).output).toBe('1\n')
  rmSync(folder, { recursive: true })
})
