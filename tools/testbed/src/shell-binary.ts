import { findProgram, type Machine } from './find-program.ts'

/**
 * Finds a shell, such as zsh, and returns its file; for root on Debian or Ubuntu it installs the package. Throws a
 * message with the resolution.
 */
export async function findShell(name: string, machine: Machine = {}): Promise<string> {
  const found = await findProgram([name], name, machine)
  if ('file' in found) return found.file
  throw new Error(
    `${name} is needed to test what it completes, and it is not here. Install it (Debian: apt-get install ${name}; macOS: brew install ${name}). (${found.problem})`,
  )
}
