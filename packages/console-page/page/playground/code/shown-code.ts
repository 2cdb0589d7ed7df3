/** A code sample. It contains no secret. */
export interface ShownCode {
  title: string
  /** Install command, or null if it has no dependencies. */
  install: string | null
  text: string
}

/** Environment variable that contains the key. */
export const KEY_NAME = 'GATEWAY_KEY'
