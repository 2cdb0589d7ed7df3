import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
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

/** A process that holds each folder that it reads from its input until it is killed, and prints the result. */
function startHolder(env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'fixtures/folder-owner.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const results = createInterface(child.stdout)[Symbol.asyncIterator]()
  return {
    pid: child.pid,
    hold: async (each: string) => {
      child.stdin.write(`${each}\n`)
      return (await results.next()).value as string
    },
    suspend: () => child.kill('SIGSTOP'),
    kill: async () => {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

test('a killed owner no longer holds the folder', async () => {
  const holder = startHolder()
  expect(await holder.hold(folder)).toBe('held')
  expect(await holdFolder(folder, me)).toEqual({ kind: 'taken', by: { pid: holder.pid, stopping: false } })
  await holder.kill()
  const hold = await holdFolder(folder, me)
  expect(hold.kind).toBe('held')
  if (hold.kind === 'held') await hold.release()
})

test('a suspended owner still holds the folder and is reported after the limit', async () => {
  const holder = startHolder()
  await holder.hold(folder)
  holder.suspend()
  expect(await holdFolder(folder, me, 100)).toEqual({ kind: 'silent', pid: holder.pid })
})

test('of two processes that take over from a killed owner at once, exactly one holds the folder', async () => {
  const folders = Array.from({ length: 20 }, (_, n) => path.join(folder, String(n)))
  const owner = startHolder()
  for (const each of folders) {
    mkdirSync(each)
    await owner.hold(each)
  }
  await owner.kill()
  const [one, other] = [startHolder(), startHolder()]
  for (const each of folders) {
    const kinds = await Promise.all([one.hold(each), other.hold(each)])
    expect(kinds.toSorted()).toEqual(['held', 'taken'])
  }
})

test.for([
  { file: 'lock', failure: "can't be locked" },
  { file: 'owner.json', failure: "can't be written" },
])('reports a folder in place of $file with a resolution', async ({ file, failure }) => {
  mkdirSync(path.join(folder, file))
  await expect(holdFolder(folder, me)).rejects.toMatchObject({
    name: 'ConfigurationError',
    problems: [expect.stringContaining(`${path.join(folder, file)} ${failure}`), expect.stringContaining('chown')],
  })
})

test('reports a lock file that can only be read with a resolution, and does not hold the folder', async () => {
  const root = process.getuid?.() === 0
  writeFileSync(path.join(folder, 'lock'), '', { mode: 0o444 })
  chmodSync(folder, root ? 0o777 : 0o700) // root can write every file, so the holder is another user then
  const reported = await startHolder(root ? { AS_USER: '65534' } : {}).hold(folder)
  expect(reported).toMatch(/^ConfigurationError: .*lock can't be locked: .*sudo chown -R/)
})

test('holds a folder when the path of the folder for temporary files has 60 characters', async () => {
  const TMPDIR = `${folder}/`.padEnd(60, 't')
  mkdirSync(TMPDIR, { recursive: true })
  expect(await startHolder({ TMPDIR }).hold(folder)).toBe('held')
})

// Only Linux names the files that a process has open.
test.runIf(process.platform === 'linux')('keeps no lock file of another owner open', async () => {
  const holder = startHolder()
  await holder.hold(folder)
  expect((await holdFolder(folder, me)).kind).toBe('taken')
  const lock = statSync(path.join(folder, 'lock'))
  const open = readdirSync('/proc/self/fd').map((fd) => statSync(`/proc/self/fd/${fd}`, { throwIfNoEntry: false }))
  expect(open.filter((file) => file?.dev === lock.dev && file.ino === lock.ino)).toEqual([])
})
