import { SESSION_PREFIX } from '@gateway/api/ids'
import type { RefusalBody } from '@gateway/api/refusal'

export interface Answer {
  status: number
  headers: Headers
  /** The raw body. */
  text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- an API response, as a client sees it
  body: any
}

/** A client of one URL of the stack, with or without a credential. The secret of a session is sent as its cookie. */
export interface Caller {
  secret: string | null
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
}

export function callerAt(url: string, secret: string | null): Caller {
  return {
    secret,
    async ask(method, path, body, headers = {}) {
      const answer = await fetch(url + path, {
        method,
        headers: {
          ...credentialHeader(secret),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: body instanceof Uint8Array ? Buffer.from(body) : JSON.stringify(body) }),
        redirect: 'manual',
      })
      return answerOf(answer)
    },
  }
}

/** Header that sends a key, a token, or the secret of a session as its cookie. */
export function credentialHeader(secret: string | null): Record<string, string> {
  if (secret === null) return {}
  return secret.startsWith(SESSION_PREFIX) ? { cookie: `svc_session=${secret}` } : { authorization: `Bearer ${secret}` }
}

/** The secret of the session whose cookie an answer sets. */
export function sessionSetBy({ headers }: Pick<Answer, 'headers'>): string {
  const secret = /\bsvc_session=(\w+)/.exec(headers.getSetCookie().join('; '))?.[1]
  if (secret === undefined) throw new Error('the answer sets no session cookie')
  return secret
}

export async function answerOf(answer: Response): Promise<Answer> {
  const text = await answer.text()
  const isJson = answer.headers.get('content-type')?.includes('application/json') && text !== ''
  return { status: answer.status, headers: answer.headers, text, body: isJson ? JSON.parse(text) : null }
}

/** Status and code of a refusal, such as `403 key_scope`, or the status of any other response. */
export function said({ status, body }: Answer): string {
  const code = refusalIn({ body })?.code
  return code === undefined ? String(status) : `${status} ${code}`
}

export function refusalIn({ body }: Pick<Answer, 'body'>): RefusalBody | undefined {
  return (body as { error?: RefusalBody } | null)?.error
}
