/** Request of the command line, from the URL that it opened (clients/cli/src/session/sign-in-by-browser.ts). */
export interface CommandLineView {
  /** PKCE challenge. Omitted if nothing is requested. */
  challenge?: string
  /** Name of the token. */
  name?: string
  /** Port on this machine where the command line listens for the code. If omitted, the user pastes the code. */
  port?: number
  /** Echoed back, so that the command line recognizes its own request. */
  state?: string
  /** The command line has received its token. */
  done?: true
}

const BYTES_32 = /^[\w-]{43}$/
const LONGEST_NAME = 100

/** Keeps the valid search parameters of the URL and drops the rest. */
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

/** Address that receives the code, or null if the user pastes it. Always on this machine, regardless of the URL. */
export function addressOfCode({ port, state }: CommandLineView, code: string): string | null {
  return port === undefined || state === undefined
    ? null
    : `http://127.0.0.1:${port}/?${new URLSearchParams({ code, state }).toString()}`
}
