import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { startProgram } from './test-program.ts'
import { temporaryFolder } from './test-servers.ts'

test('a program that is not ready in time is ended, and its log is reported', async () => {
  const folder = await temporaryFolder('program')
  const entry = path.join(folder, 'silent.js')
  await writeFile(
    entry,
    `require('fs').writeFileSync('${folder}/pid', String(process.pid)); console.log('still waiting'); setInterval(() => {}, 1000)`,
  )
  const started = startProgram({ name: 'silent', entry, folder, env: {}, readyMs: 2_000 })
  await expect(started).rejects.toThrow(/silent did not become ready[^]*still waiting/)
  const pid = Number(await readFile(path.join(folder, 'pid'), 'utf8'))
  expect(() => process.kill(pid, 0)).toThrow('ESRCH')
})

test('a program that ends before it is ready says how, with its log', async () => {
  const folder = await temporaryFolder('program')
  const entry = path.join(folder, 'short.js')
  await writeFile(entry, `console.log('no such setting'); process.exitCode = 78`)
  const started = startProgram({ name: 'short', entry, folder, env: {} })
  await expect(started).rejects.toThrow(/short ended before it was ready \(78\)[^]*no such setting/)
})
