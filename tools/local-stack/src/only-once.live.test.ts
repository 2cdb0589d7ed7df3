import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { holdFolder } from './only-once.ts'

let folder = ''
beforeEach(() => void (folder = mkdtempSync(path.join(tmpdir(), 'only-once-'))))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const me = () => ({ pid: process.pid, stopping: false })

test('a folder is held by one process, and a second one gets the name of the owner', async () => {
  const first = await holdFolder(folder, me)
  expect(await holdFolder(folder, me)).toEqual({ kind: 'taken', by: { pid: process.pid, stopping: false } })
  if (first.kind === 'held') await first.release()
  const again = await holdFolder(folder, me)
  expect(again.kind).toBe('held')
  if (again.kind === 'held') await again.release()
})

test('a link to a held folder counts as the same folder', async () => {
  const link = `${folder}-link`
  symlinkSync(folder, link)
  const first = await holdFolder(folder, me)
  expect((await holdFolder(link, me)).kind).toBe('taken')
  rmSync(link)
  if (first.kind === 'held') await first.release()
})

test('a killed owner no longer holds the folder', async () => {
  const script = `import { holdFolder } from ${JSON.stringify(path.join(import.meta.dirname, 'only-once.ts'))}
    await holdFolder(${JSON.stringify(folder)}, () => ({ pid: process.pid, stopping: false }))
    console.log('held')
    setInterval(() => {}, 60_000)`
  const holder = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(holder.stdout, 'data')
  expect(await holdFolder(folder, me)).toEqual({ kind: 'taken', by: { pid: holder.pid, stopping: false } })
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  const hold = await holdFolder(folder, me)
  expect(hold.kind).toBe('held')
  if (hold.kind === 'held') await hold.release()
})
