/** What the command line asks for, as the address has it that it opened (clients/cli/src/session/begin-sign-in.ts). */
export interface CommandLineView {
  /** Of PKCE. Left out: nothing is asked for. */
  challenge?: string
  /** What the token is to be called. */
  name?: string
  /** Where the command line listens for the code, on the machine of this browser; left out: the code is pasted. */
  port?: number
  /** By which it knows its own question. */
  state?: string
  /** It has its token. */
  done?: true
}

const BYTES_32 = /^[\w-]{43}$/
const LONGEST_NAME = 100

/** Keeps the known search parameters of an address and drops the rest. */
export function commandLineView({ challenge, name, port, state, done }: Record<string, unknown>): CommandLineView {
  if (done === true) return { done }
  if (typeof challenge !== 'string' || !BYTES_32.test(challenge)) return {}
  const isPort = typeof port === 'number' && Number.isInteger(port) && port > 0 && port < 65_536
  return {
    challenge,
    ...(typeof name === 'string' && { name: name.slice(0, LONGEST_NAME) }),
    ...(isPort && typeof state === 'string' && BYTES_32.test(state) && { port, state }),
  }
}

/** Where the browser brings a code; null: a user does. On this machine, no matter what the address says. */
export function addressOfCode({ port, state }: CommandLineView, code: string): string | null {
  return port === undefined || state === undefined
    ? null
    : `http://127.0.0.1:${port}/?${new URLSearchParams({ code, state }).toString()}`
}
