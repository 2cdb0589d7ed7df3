/** Everything that a command reaches outside of itself. Data goes to `write`, messages for users to `say`. */
export interface Io {
  env: Readonly<Record<string, string | undefined>>
  folder: string
  homeFolder: string
  platform: string
  /** How this command is started: a program and its file. */
  program: readonly [string, string]
  /** Which of the three streams are terminals with a user. */
  isTerminal: { input: boolean; output: boolean; words: boolean }
  write(text: string): void
  /** Waits until the output is written. False if it was lost, because a disk is full or no one reads it. */
  isWritten(): Promise<boolean>
  say(text: string): void
  /** Prints a line that replaces the one before; only if `say` goes to a terminal. */
  progress(text: string): void
  /** Reads all of standard input. */
  readInput(): Promise<string>
  /** Reads a line from the terminal; `hidden` does not show it. @throws the reason of the signal */
  ask(question: string, options?: { hidden?: boolean; signal?: AbortSignal }): Promise<string>
  openBrowser(address: string): void
  wait(ms: number): Promise<void>
  now(): number
}
