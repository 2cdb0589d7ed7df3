import type { UsageAnswer, UsageQuestion } from '@gateway/contracts/flow-reads'
import type { Deps } from '../../deps.ts'

/**
 * The tokens that the settled calls of an execution's nodes used together. Once it has ended they change no more: it ends only when
 * none of its reservations is open.
 */
export async function readUsage(
  { reads: { prisma } }: Pick<Deps, 'reads'>,
  { execution }: UsageQuestion,
): Promise<UsageAnswer> {
  const [sums] = await prisma.$queryRaw<[{ prompt: bigint; completion: bigint }]>`
    SELECT coalesce(sum(prompt_tokens), 0)::bigint AS prompt, coalesce(sum(completion_tokens), 0)::bigint AS completion
      FROM money.execution_nodes n
      CROSS JOIN LATERAL (SELECT * FROM money.attempts c WHERE c.id = n.charge LIMIT 1) v
     WHERE n.execution = ${execution}`
  return { promptTokens: Number(sums.prompt), completionTokens: Number(sums.completion) }
}
