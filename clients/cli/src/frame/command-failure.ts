/** Exit codes: done; refused or failed; wrong usage; not signed in. */
export const exitCodes = { done: 0, refused: 1, usage: 2, signIn: 3 } as const

/** A failure of a command, with its resolution. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure'
  readonly exitCode: number
  readonly resolution: string

  constructor(message: string, resolution: string, kind: Exclude<keyof typeof exitCodes, 'done'> = 'refused') {
    super(message)
    this.exitCode = exitCodes[kind]
    this.resolution = resolution
  }
}

/** A failure of the system, such as a full disk. */
export class SystemFailure extends CommandFailure {}

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
export function systemFailure(error: unknown, file?: string): SystemFailure | null {
  const { code, syscall, message, path } = Object(error) as NodeJS.ErrnoException
  if (code === undefined || syscall === undefined) return null
  const what = /^\w+: (.+?)(?:, \w+.*)?$/s.exec(message)?.[1] ?? message
  const named = file ?? path
  const where = named === undefined ? '' : `${named}: `
  return new SystemFailure(`${where}${what} (${code}).`, resolutions[code] ?? 'Check the file or folder')
}
