import { useEffect } from 'react'
import { useQuery } from '@tanstack/react-query'
import type { Answer } from '../core/conversation.ts'
import { askingWith } from './ask-gateway.ts'

const EVERY_MS = 1_000

/** Polls the charge of a response that ended early, until it is final. */
export function useCharge(
  { state, invocation, chargedMicro }: Answer,
  secret: string | undefined,
  onKnown: (known: Pick<Answer, 'chargedMicro' | 'usage'>) => void,
): void {
  const isOpen = state !== 'streaming' && invocation !== null && chargedMicro === null && secret !== undefined
  const { data } = useQuery({
    queryKey: ['/v1/invocations', invocation],
    queryFn: () => askingWith(secret!).ask('GET', '/v1/invocations/{id}', { params: { id: invocation! } }),
    enabled: isOpen,
    refetchInterval: ({ state: { status, data: read } }) =>
      status !== 'error' && read?.state !== 'Settled' && read?.state !== 'Released' && EVERY_MS,
  })
  useEffect(() => {
    if (!isOpen || !data || data.state === 'Open') return
    const { promptTokens: prompt, completionTokens: completion } = data
    const usage = prompt === null || completion === null ? null : { prompt, completion }
    onKnown({ chargedMicro: data.chargedMicro, usage })
  }, [isOpen, data, onKnown])
}
