import { hostname } from 'node:os'
import { openApiClient } from '@gateway/api-client/open-api-client'
import { CommandFailure } from '../frame/command-failure.ts'
import type { Io } from '../frame/io.ts'
import type { Profile } from './profiles.ts'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** A token, and the id to delete it by if it was created for this sign-in. */
export type SignedIn = Pick<Profile, 'token' | 'tokenId'>

const LONGEST_WAIT_MS = 600_000
const LONGEST_NAME = 100

/**
 * Gets a personal token that a user confirms in their browser, on this machine or on another one: here the browser
 * sends a code, from another machine the user pastes it. A token created by hand can be pasted instead.
 * @param keep runs before the browser learns that this machine is signed in
 * @throws CommandFailure, ApiRefusal, Unreachable; errors of `keep`
 */
export async function signInByBrowser(
  io: Pick<Io, 'env' | 'say' | 'ask' | 'openBrowser'>,
  url: string,
  keep: (got: SignedIn) => Promise<void>,
): Promise<void> {
  const name = `gateway on ${hostname()}`.slice(0, LONGEST_NAME)
  const { verifier, state, link } = beginSignIn(url, name)
  const limit = AbortSignal.timeout(LONGEST_WAIT_MS)
  const receiver = await receiveCode(state, limit)
  const brought = new AbortController()
  try {
    const isElsewhere = Boolean(io.env['SSH_CONNECTION']) // a browser here would be invisible to the user
    if (!isElsewhere) io.openBrowser(link(receiver.port))
    io.say(
      isElsewhere
        ? 'Confirm the sign-in in your browser:'
        : 'Confirm the sign-in in the browser that opens. On another machine, open',
    )
    io.say(`  ${link(null)}`)
    const typed = io.ask('and paste the code, or a personal token (it is not shown): ', {
      hidden: true,
      signal: AbortSignal.any([brought.signal, limit]),
    })
    const pasted = typed.then((line) => line.trim() || receiver.code) // an empty line waits for the browser
    const code = await Promise.race([receiver.code, pasted])
    brought.abort() // so that further messages don't follow the question
    if (code.startsWith('svu_')) return await keep({ token: code })
    const made = await openApiClient({ baseUrl: url }).ask('POST', '/api/v2/session/tokens', {
      body: { code, verifier },
    })
    await keep({ token: made.secret, tokenId: made.token.id })
    receiver.answer({ goTo: `${url}/console/account/command-line?done=true` })
  } catch (error) {
    receiver.answer({ failure: 'The command line is not signed in.' })
    if (error !== limit.reason) throw error
    throw new CommandFailure('The sign-in was not confirmed within ten minutes.', 'Try again: gateway login', 'signIn')
  } finally {
    brought.abort()
    receiver.close()
  }
}

/** A sign-in that was started here and that a user confirms in their browser (PKCE, RFC 7636). */
interface BegunSignIn {
  /** Stays here: without it the code is worthless. */
  verifier: string
  /** Returned with the code, so that no other code is accepted. */
  state: string
  /** Where the user confirms it. @param port to which the browser sends the code; null: the page shows the code */
  link(port: number | null): string
}

/** @param url of the gateway  @param name of the token */
function beginSignIn(url: string, name: string): BegunSignIn {
  const verifier = secret()
  const state = secret()
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  return {
    verifier,
    state,
    link(port) {
      const query = new URLSearchParams({ challenge, name })
      if (port !== null) query.set('port', String(port))
      if (port !== null) query.set('state', state)
      return `${url}/console/account/command-line?${query.toString()}`
    },
  }
}

const secret = () => randomBytes(32).toString('base64url')

interface CodeReceiver {
  port: number
  /** The code that the browser sends. */
  code: Promise<string>
  /** Redirects the browser that sent the code, or shows the failure; does nothing before a browser came. */
  answer(said: { goTo: string } | { failure: string }): void
  /** Ends every connection, except that an answer to the browser is still sent. */
  close(): void
}

/**
 * Listens on this machine alone for the browser that sends a code (RFC 8252, 7.3). Requests without the state are
 * ignored, since other pages and programs reach this port too.
 * @param limit `code` rejects with its reason
 */
async function receiveCode(state: string, limit: AbortSignal): Promise<CodeReceiver> {
  let browser: ServerResponse | null = null
  let answered: Socket | null = null
  const server = createServer()
  // Browsers open connections in advance and send nothing on them: only `destroy` ends those.
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const code = new Promise<string>((resolve, reject) => {
    limit.addEventListener('abort', () => reject(limit.reason as Error))
    server.on('request', ({ method, url: address = '' }, res) => {
      const [path, query] = address.split('?')
      const search = new URLSearchParams(query)
      const brought = search.get('code')
      const isOurs = method === 'GET' && path === '/' && search.get('state') === state
      if (!isOurs || brought === null || browser !== null) return end(res, 404, 'Not found.')
      browser = res
      resolve(brought)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    code,
    answer(said) {
      if (browser === null) return
      answered = browser.req.socket // closes itself after the answer
      if ('goTo' in said) end(browser, 303, '', { Location: said.goTo })
      else end(browser, 400, `${said.failure} See the terminal for how to fix it.`)
    },
    close() {
      server.close()
      for (const socket of sockets) if (socket !== answered) socket.destroy()
    },
  }
}

function end(res: ServerResponse, status: number, text: string, headers: Record<string, string> = {}): void {
  const plain = { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' }
  res.writeHead(status, { ...plain, 'Cache-Control': 'no-store', Connection: 'close', ...headers }).end(text)
}
