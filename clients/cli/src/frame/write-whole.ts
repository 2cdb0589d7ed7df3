import { randomUUID } from 'node:crypto'
import { chmod, mkdir, realpath, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { systemFailure } from './command-failure.ts'

/**
 * Writes a file completely or not at all: if the disk is full, the previous content stays, and nothing else is left.
 * @param mode of the file and, with the bits needed to enter them, of missing folders; by default that of any new file
 * @param isTrial leaves the file unchanged after checking that it could be written
 * @param isFollowed writes to the target of a link; otherwise replaces the link
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
    if (mode !== undefined) await chmod(work, mode) // undoes the umask of this process
    if (!isTrial) await rename(work, target)
  } catch (error) {
    throw systemFailure(error, file) ?? error
  } finally {
    await rm(work, { force: true }).catch(() => {}) // it may not exist, nor its folder
  }
}
