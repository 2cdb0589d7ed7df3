/** All that a command reaches outside of itself. Data goes to `write`, words for users to `say`. */
export interface Io {
  env: Readonly<Record<string, string | undefined>>
  folder: string
  homeFolder: string
  platform: string
  /** What starts this command: a program, and its file. */
  program: readonly [string, string]
  /** Which of the three streams are terminals, with a user before them. */
  isTerminal: { input: boolean; output: boolean; words: boolean }
  write(text: string): void
  /** Waits for what was written. false: it has come nowhere, because a disk is full or no one reads. */
  isWritten(): Promise<boolean>
  say(text: string): void
  /** A line that takes the line of the one before; only where `say` goes to a terminal. */
  progress(text: string): void
  /** All of the standard input. */
  readInput(): Promise<string>
  /** What a user types on a terminal; `hidden`: it is not shown. @throws the reason of the signal */
  ask(question: string, options?: { hidden?: boolean; signal?: AbortSignal }): Promise<string>
  openBrowser(address: string): void
  wait(ms: number): Promise<void>
  now(): number
}
