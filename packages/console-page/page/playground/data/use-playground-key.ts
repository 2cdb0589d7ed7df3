import { useRef, useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { ask } from '../../api/ask.ts'
import { useMe, useScope } from '../../api/session.ts'
import { newIdempotencyKey } from '../../api/queries.ts'
import { useKeyChange } from '../../keys/key-labels.ts'
import { revoke, type keptIn, type KeptKey } from './kept.ts'
import { openApiClient, type ApiClient } from '@gateway/api-client/open-api-client'

const LONGEST_NAME = 100

/** The key of this tab: created and revoked here, or pasted. */
export function usePlaygroundKey(kept: ReturnType<typeof keptIn>) {
  const { tenant, project } = useScope()
  const { name } = useMe()
  const [key, setKey] = useState(() => kept.read('key') as KeptKey | null)
  const once = useRef(newIdempotencyKey())
  const take = (next: KeptKey | null) => {
    if (next) kept.write('key', next)
    else kept.drop('key')
    setKey(next)
  }
  async function create(limitMicro: number): Promise<void> {
    const { key: record, secret } = await ask('POST', '/api/v2/tenants/{tenant}/keys', {
      params: { tenant },
      body: {
        project,
        name: `Playground: ${name}`.slice(0, LONGEST_NAME),
        limit: { micro: limitMicro, reset: 'lifetime' },
        expiresInDays: 1,
      },
      idempotencyKey: once.current,
    })
    const made = { tenant, id: record.id, prefix: record.prefix }
    once.current = newIdempotencyKey()
    if (secret !== null) return take({ secret, made })
    // The response with the secret was lost, and the secret can't be read again.
    await revoke({ secret: '', made })
    return create(limitMicro)
  }
  const make = useKeyChange(create, 'Playground key created.')
  const end = useKeyChange(async () => {
    if (key) await revoke(key)
    take(null)
  }, 'Playground key removed.')
  const status = useQuery({
    queryKey: ['/v1/key', key?.secret],
    queryFn: () => askingWith(key!.secret).ask('GET', '/v1/key'),
    enabled: key !== null,
  })
  return {
    key,
    status,
    make,
    end,
    /** Starts a new idempotency key, because a different limit is a different request. */
    resetIdempotencyKey: () => void (once.current = newIdempotencyKey()),
    paste: (secret: string) => take({ secret, made: null }),
    /** Drops the key to use another one. A key created here is revoked. */
    replace: () => (key?.made ? end.mutate() : take(null)),
    /** Drops the key without revoking it, for example if it is no longer valid. */
    forget: () => take(null),
  }
}
export type UsedKey = ReturnType<typeof usePlaygroundKey>

/** Gateway client that authenticates with a key, never with the session. */
export function askingWith(secret: string): ApiClient {
  return openApiClient({
    baseUrl: '',
    headers: { authorization: `Bearer ${secret}` },
    fetch: (url, init) => fetch(url, { ...init, credentials: 'omit' }),
  })
}
