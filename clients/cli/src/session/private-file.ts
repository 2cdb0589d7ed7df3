import { readFile } from 'node:fs/promises'
import { systemFailure } from '../frame/system-failure.ts'
import { writeWhole } from '../frame/write-whole.ts'

/**
 * Writes a file that only its owner can read, completely or not at all; creates a missing folder for the owner alone.
 */
export function writePrivateFile(
  file: string,
  content: string | Uint8Array,
  trial: { isTrial?: boolean } = {},
): Promise<void> {
  return writeWhole(file, content, { mode: 0o600, isFollowed: true, ...trial })
}

/** Removes a byte order mark, which some editors write. Null if the file does not exist. */
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
