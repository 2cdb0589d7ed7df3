import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'

/** Writes a file that only its owner reads, whole or not at all; a folder that is missing is made for the owner alone. */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
  const work = `${file}.${process.pid}`
  await writeFile(work, text, { mode: 0o600 })
  await chmod(work, 0o600) // one that was there keeps its mode otherwise
  await rename(work, file)
}

/** null: there is none. */
export async function readIfThere(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
}
