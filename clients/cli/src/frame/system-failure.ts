import { CommandFailure } from './command-failure.ts'

const ROOM = 'Free disk space and try again'
const RIGHT = 'Check its permissions, or name another one'
const resolutions: Readonly<Record<string, string>> = {
  ENOSPC: ROOM,
  EDQUOT: ROOM,
  EACCES: RIGHT,
  EPERM: RIGHT,
  EROFS: RIGHT,
}

/** Words a system error, such as a failed read of a file, in a sentence. Null if it is not a system error. */
export function systemFailure(error: unknown, file?: string): CommandFailure | null {
  const { code, syscall, message, path } = Object(error) as NodeJS.ErrnoException
  if (code === undefined || syscall === undefined) return null
  const what = /^\w+: (.+?)(?:, \w+.*)?$/s.exec(message)?.[1] ?? message
  const named = file ?? path
  const where = named === undefined ? '' : `${named}: `
  return new CommandFailure(`${where}${what} (${code}).`, resolutions[code] ?? 'Check the file or folder')
}
