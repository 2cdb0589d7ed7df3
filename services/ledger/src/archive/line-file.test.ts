import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { queryObjects } from 'node:v8'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openLineFile, readLines } from './line-file.ts'

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'line-file-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

/** More than the compressor buffers, so each write waits for it. */
const line = randomBytes(24 * 1024).toString('base64')

describe('openLineFile', () => {
  test('keeps nothing in memory for the lines already written', async () => {
    const folder = await emptyFolder()
    const file = openLineFile(folder, 'many')
    await file.write(line)
    const before = queryObjects(Promise, { format: 'count' })
    for (let n = 0; n < 300; n++) await file.write(line)
    expect(queryObjects(Promise, { format: 'count' }) - before).toBeLessThan(30)
    await file.finish()
    let read = 0
    for await (const one of readLines(path.join(folder, 'many'))) if (one === line) read++
    expect(read).toBe(301)
  })

  test.skipIf(!existsSync('/dev/full'))('refuses every line, and the end, once the disk is full', async () => {
    const folder = await emptyFolder()
    await symlink('/dev/full', path.join(folder, '.some.part'))
    const file = openLineFile(folder, 'some')
    const writeUntilRefused = async () => {
      for (;;) await file.write(line)
    }
    await expect(writeUntilRefused()).rejects.toMatchObject({ code: 'ENOSPC' })
    await expect(file.write(line)).rejects.toMatchObject({ code: 'ENOSPC' })
    await expect(file.finish()).rejects.toMatchObject({ code: 'ENOSPC' })
    await file.abandon()
    expect(await readdir(folder)).toEqual([])
  })
})
