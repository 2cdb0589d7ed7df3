import { randomUUID } from 'node:crypto'
import { chmod, mkdir, realpath, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { systemFailure } from './system-failure.ts'

/**
 * Writes a file whole or not at all: where a disk is full, what was there stays, and nothing else is left.
 * @param mode of the file and, with what else is needed to enter it, of folders that are missing; by default that of any new file
 * @param isTrial it is left as it is once it is known that it could be written
 * @param isFollowed where the file is a link, it is written where that leads; else it takes the place of the link
 */
export async function writeWhole(
  file: string,
  content: string | Uint8Array,
  { mode, isFollowed = false, isTrial = false }: { mode?: number; isFollowed?: boolean; isTrial?: boolean } = {},
): Promise<void> {
  const target = isFollowed ? await realpath(file).catch(() => file) : file
  const work = `${target}.${randomUUID()}`
  try {
    await mkdir(path.dirname(target), { recursive: true, ...(mode !== undefined && { mode: mode | 0o100 }) })
    await writeFile(work, content, { flag: 'wx', ...(mode !== undefined && { mode }) })
    if (mode !== undefined) await chmod(work, mode) // anything this process takes away from new files
    if (!isTrial) await rename(work, target)
  } catch (error) {
    throw systemFailure(error, file) ?? error
  } finally {
    await rm(work, { force: true }).catch(() => {}) // what is not there, or in no folder
  }
}
