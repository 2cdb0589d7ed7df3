/** What a command ends with: done; refused, or it failed; it was asked wrongly; no one is signed in. */
export const exitCodes = { done: 0, refused: 1, usage: 2, signIn: 3 } as const

/** A command could not do what it was asked for, and what clears that. */
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
