import { refused, type Refused } from '@gateway/contracts/ledger-refusal'
import type { Database } from '@gateway/database/client'

/** Only a person who names a draft in the console gets this. */
export async function refuseGraph(
  { prisma }: Pick<Database, 'prisma'>,
  sandbox: string,
  number: number,
): Promise<Refused> {
  const revision = await prisma.revision.findUniqueOrThrow({
    where: { sandbox_number: { sandbox, number } },
    select: { problems: true },
  })
  return refused('graph_invalid', {
    problems: JSON.parse(Buffer.from(revision.problems).toString()) as { message: string }[],
  })
}
