import type { ProviderTry } from '@gateway/api/chat-answer'
import type { Deps } from '../deps.ts'
import type { Excess } from '../metrics.ts'

/**
 * Reports usage beyond the bound to the operator (money §3.2). The names are read once the batch is written, so that no
 * settlement waits for them. Never rejects.
 */
export async function reportExcesses(
  { reads, metrics }: Pick<Deps, 'reads'> & { metrics: Pick<Deps['metrics'], 'settledMore'> },
  excesses: readonly Excess[],
): Promise<void> {
  if (excesses.length === 0) return
  const ids = excesses.map(({ reservation }) => reservation)
  const select = { id: true, product: true, project: true, execution: true, node: true, tries: true }
  const calls = await reads.prisma.attempt.findMany({ where: { id: { in: ids } }, select }).catch(() => [])
  const callOf = new Map(calls.map(({ id, tries, ...call }) => [id, { ...call, provider: lastProvider(tries) }]))
  for (const excess of excesses)
    metrics.settledMore({ provider: 'unknown', ...callOf.get(excess.reservation), ...excess })
}

/** @param tries JSON text */
function lastProvider(tries: string | null): string {
  return (JSON.parse(tries ?? '[]') as ProviderTry[]).at(-1)?.provider ?? 'unknown'
}
