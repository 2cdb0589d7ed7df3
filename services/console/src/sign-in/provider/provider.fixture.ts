import { generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider, type Context } from 'oidc-provider'

// A real OpenID Connect provider on loopback, for which a test chooses the user who signs in.

export const CLIENT = { id: 'console', secret: 'a secret of the console' }

export interface Account {
  email?: string
  email_verified?: boolean
  name?: string
}

export type TestProvider = Awaited<ReturnType<typeof startProvider>>

export async function startProvider({ redirectUri, port = 0 }: { redirectUri: string; port?: number }) {
  const accounts = new Map<string, Account>()
  let atKeyboard = ''
  let alter: (tokens: Record<string, string>) => void = () => {}

  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const server = createServer((req, res) => void listen(req, res))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider: Provider = new Provider(issuer, {
    clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: [redirectUri] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    findAccount: (_: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId, ...accounts.get(accountId) }),
    }),
    interactions: { url: () => '/keyboard' },
    features: { devInteractions: { enabled: false } },
    loadExistingGrant: async ({ oidc }: Context) => {
      const grant = new provider.Grant({ clientId: CLIENT.id, accountId: oidc!.session!.accountId! })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
    pkce: { required: () => true },
    ttl: { Interaction: 600, Grant: 600, Session: 600, AccessToken: 600, IdToken: 600 },
    cookies: { keys: ['of this execution'] },
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }) }] },
  })
  provider.use(async (context, next) => {
    await next()
    if (context.oidc?.route === 'token') alter(context.body as Record<string, string>)
  })
  const speak = provider.callback()

  async function listen(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (req.url !== '/keyboard') return speak(req, res)
    const result =
      atKeyboard === ''
        ? { error: 'access_denied', error_description: '<b>no</b>' }
        : { login: { accountId: atKeyboard } }
    await provider.interactionFinished(req, res, result)
  }

  return {
    issuer,
    /** Sets the account that signs in from now on; '' denies the sign-in. */
    sit(accountId: string, account: Account = {}) {
      atKeyboard = accountId
      accounts.set(accountId, account)
    },
    /** Alters the tokens that the provider returns for a code. */
    alter: (how: typeof alter) => void (alter = how),
    /** Signs an ID token with the key of the provider. */
    sign(claims: object): string {
      const part = (json: object) => Buffer.from(JSON.stringify(json)).toString('base64url')
      const signed = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}`
      return `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`
    },
    /**
     * Follows the console's redirect in a new browser and signs in.
     * @returns address to which the provider redirects back
     */
    async visit(address: string): Promise<string> {
      const cookies = new Map<string, string>()
      for (let next = address; ;) {
        const headers = { Cookie: [...cookies].map((pair) => pair.join('=')).join('; ') }
        const answer = await fetch(next, { redirect: 'manual', headers })
        for (const cookie of answer.headers.getSetCookie()) {
          const [name = '', value = ''] = cookie.split(';')[0]!.split(/=(.*)/)
          cookies.set(name, value)
        }
        const location = answer.headers.get('Location')
        if (!location) throw new Error(`the provider answered ${answer.status}: ${(await answer.text()).slice(0, 500)}`)
        next = new URL(location, next).href
        if (next.startsWith(redirectUri)) return next
      }
    },
    async stop() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** Resolves once the console at this address has reached its provider. */
export async function untilReached(url: string): Promise<void> {
  for (;;) {
    const variants = (await (await fetch(`${url}/api/v2/session`)).json()) as { provider: { isReached: boolean } }
    if (variants.provider.isReached) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
