import { readFile } from 'node:fs/promises'
import { systemFailure } from '../frame/system-failure.ts'
import { writeWhole } from '../frame/write-whole.ts'

/** Writes a file that only its owner reads, whole or not at all; a folder that is missing is made for the owner alone. */
export function writePrivateFile(
  file: string,
  content: string | Uint8Array,
  trial: { isTrial?: boolean } = {},
): Promise<void> {
  return writeWhole(file, content, { mode: 0o600, isFollowed: true, ...trial })
}

/** Without the mark of the order of bytes that some editors put first. null: there is none. */
export async function readIfThere(file: string): Promise<string | null> {
  const bytes = await readBytesIfThere(file)
  return bytes === null ? null : new TextDecoder().decode(bytes)
}

/** File contents, or null if the file does not exist. */
export async function readBytesIfThere(file: string): Promise<Buffer<ArrayBuffer> | null> {
  try {
    return await readFile(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw systemFailure(error, file) ?? error
  }
}
