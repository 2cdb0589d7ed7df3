import type { UsageAnswer, UsageQuestion } from '@gateway/contracts/flow-reads'
import type { Database } from '@gateway/database/client'

/**
 * The tokens that the settled calls of a run's nodes used together. Of a run that has ended they change no more: it closes only
 * when no child hold is open.
 */
export function readUsage({ prisma }: Pick<Database, 'prisma'>) {
  return async ({ execution }: UsageQuestion): Promise<UsageAnswer> => {
    const [sums] = await prisma.$queryRaw<[{ prompt: bigint; completion: bigint }]>`
      SELECT coalesce(sum(prompt_tokens), 0)::bigint AS prompt, coalesce(sum(completion_tokens), 0)::bigint AS completion
        FROM money.attempts WHERE execution = ${execution} AND state = 'Settled'`
    return { promptTokens: Number(sums.prompt), completionTokens: Number(sums.completion) }
  }
}
