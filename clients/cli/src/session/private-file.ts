import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { systemFailure } from '../frame/system-failure.ts'

/** Writes a file that only its owner reads, whole or not at all; a folder that is missing is made for the owner alone. */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
  const work = `${file}.${process.pid}`
  await writeFile(work, text, { mode: 0o600 })
  await chmod(work, 0o600) // one that was there keeps its mode otherwise
  await rename(work, file)
}

/** Without the mark of the order of bytes that some editors put first. null: there is none. */
export async function readIfThere(file: string): Promise<string | null> {
  try {
    return (await readFile(file, 'utf8')).replace(/^\uFEFF/, '')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw systemFailure(error, file) ?? error
  }
}
