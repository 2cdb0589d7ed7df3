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
