/** The same request for a program that somebody writes. No secret is in it. */
export interface ShownCode {
  title: string
  /** What it needs besides, as a command; null: nothing. */
  install: string | null
  text: string
}

/** The variable of the environment that has the key. */
export const KEY_NAME = 'GATEWAY_KEY'
