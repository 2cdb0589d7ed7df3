import { useRef, useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { ask } from '../../api/ask.ts'
import { useMe } from '../../api/session.ts'
import { usePlace } from '../../api/use-project.ts'
import { newIdempotencyKey } from '../../keys/new-idempotency-key.ts'
import { useKeyChange } from '../../keys/use-key-change.ts'
import { askingWith } from './ask-gateway.ts'
import { revoke, type keptIn, type KeptKey } from './kept.ts'

const LONGEST_NAME = 100

/** The key that this tab calls with: made here and revoked from here, or pasted. */
export function usePlaygroundKey(kept: ReturnType<typeof keptIn>) {
  const { tenant, project } = usePlace()
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
        name: `Playground of ${name}`.slice(0, LONGEST_NAME),
        limit: { micro: limitMicro, reset: 'lifetime' },
        expiresInDays: 1,
      },
      idempotencyKey: once.current,
    })
    const made = { tenant, id: record.id, prefix: record.prefix }
    once.current = newIdempotencyKey()
    if (secret !== null) return take({ secret, made })
    // The answer that had the secret was lost on the way, and there is no other.
    await revoke({ secret: '', made })
    return create(limitMicro)
  }
  const make = useKeyChange(create, 'The playground has a key.')
  const end = useKeyChange(async () => {
    if (key) await revoke(key)
    take(null)
  }, 'The key of the playground is gone.')
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
    /** Another amount is another key. */
    anew: () => void (once.current = newIdempotencyKey()),
    paste: (secret: string) => take({ secret, made: null }),
    /** Takes another one in its place; one that was made here is of no more use. */
    replace: () => (key?.made ? end.mutate() : take(null)),
    /** Without revoking it, such as when it is no key any more. */
    forget: () => take(null),
  }
}
export type UsedKey = ReturnType<typeof usePlaygroundKey>
