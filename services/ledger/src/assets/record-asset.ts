import type { AssetRecordAnswer, AssetRecordQuestion } from '@gateway/contracts/flow-reads'
import { refused, type Refused } from '@gateway/contracts/ledger-refusal'
import type { Deps } from '../deps.ts'
import { readCaller } from '../keys/read-caller.ts'

/**
 * Puts stored bytes on a project's books: they were uploaded with a key or by a person, or an execution made them. Safe to repeat.
 * @throws Error where the id is taken by something else, which no honest caller can bring about
 */
export async function recordAsset(
  deps: Pick<Deps, 'reads'>,
  { id, caller, mimeType, bytes }: AssetRecordQuestion,
): Promise<AssetRecordAnswer> {
  const { prisma } = deps.reads
  const owner = await ownerOf(deps, caller)
  if ('refused' in owner) return owner
  const { key, person, execution } = { key: null, person: null, execution: null, ...owner }
  await prisma.$executeRaw`
    INSERT INTO money.assets (id, project, mime_type, bytes, execution, key, person)
    VALUES (${id}, ${owner.project}, ${mimeType}, ${bytes}, ${execution}, ${key}, ${person}) ON CONFLICT (id) DO NOTHING`
  const recorded = await prisma.asset.findUniqueOrThrow({ where: { id } })
  const { project } = owner
  if (recorded.project !== project || recorded.mimeType !== mimeType || recorded.bytes !== bytes)
    throw new Error(`the asset ${id} is on the books as another one`)
  return { recorded: true, project }
}

/** Whose they are, and who brought them. Of a person the console has said that they may. */
async function ownerOf(
  deps: Pick<Deps, 'reads'>,
  caller: AssetRecordQuestion['caller'],
): Promise<{ project: string; key?: string; person?: string; execution?: string } | Refused> {
  if ('person' in caller) return caller
  if ('execution' in caller) return findExecution(deps, caller)
  const answer = await readCaller(deps, caller)
  return 'refused' in answer ? answer : { project: answer.project, key: answer.id }
}

async function findExecution(
  { reads }: Pick<Deps, 'reads'>,
  { project, execution }: { project: string; execution: string },
): Promise<{ project: string; execution: string } | Refused> {
  const row = await reads.prisma.execution.findFirst({ where: { id: execution, project }, select: { project: true } })
  return row ? { project, execution } : refused('execution_not_found', { execution })
}
