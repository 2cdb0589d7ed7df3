import { hostname } from 'node:os'
import { openApiClient } from '@gateway/api-client/open-api-client'
import { CommandFailure } from '../frame/command-failure.ts'
import type { Io } from '../frame/io.ts'
import { beginSignIn } from './begin-sign-in.ts'
import type { Profile } from './profiles.ts'
import { receiveCode } from './receive-code.ts'

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
export async function signInByBrowser(io: Io, url: string, keep: (got: SignedIn) => Promise<void>): Promise<void> {
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
