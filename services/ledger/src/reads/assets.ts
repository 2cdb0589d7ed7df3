import type { AssetAnswer, AssetQuestion, AssetRecordAnswer, AssetRecordQuestion } from '@gateway/contracts/flow-reads'
import { refused, type Refused } from '@gateway/contracts/ledger-refusal'
import type { Database } from '@gateway/database/client'
import { readCaller } from './caller.ts'

// Private bytes of a project: whose they are and what they are. The bytes themselves lie in the asset store.

/**
 * Puts stored bytes on a project's books: of whoever uploads them with a key, or of a run that made them. Safe to repeat.
 * @throws Error where the id is taken by something else, which no honest caller can bring about
 */
export function recordAsset({ prisma }: Pick<Database, 'prisma'>) {
  return async ({ id, caller, mimeType, bytes }: AssetRecordQuestion): Promise<AssetRecordAnswer> => {
    const owner = 'keyHash' in caller ? await readCaller({ prisma }, caller) : await readExecution({ prisma }, caller)
    if ('refused' in owner) return owner
    const execution = 'keyHash' in caller ? null : caller.execution
    await prisma.$executeRaw`
      INSERT INTO money.assets (id, project, mime_type, bytes, execution)
      VALUES (${id}, ${owner.project}, ${mimeType}, ${bytes}, ${execution}) ON CONFLICT (id) DO NOTHING`
    const recorded = await prisma.asset.findUniqueOrThrow({ where: { id } })
    const { project } = owner
    if (recorded.project !== project || recorded.mimeType !== mimeType || recorded.bytes !== bytes)
      throw new Error(`the asset ${id} is on the books as another one`)
    return { recorded: true, project }
  }
}

/** Whose an asset is and what it is. Another project's is answered like none. */
export function readAsset({ prisma }: Pick<Database, 'prisma'>) {
  return async ({ caller, asset: id }: AssetQuestion): Promise<AssetAnswer> => {
    const owner = 'keyHash' in caller ? await readCaller({ prisma }, caller) : caller
    if ('refused' in owner) return owner
    const { project } = owner
    const asset = await prisma.asset.findFirst({ where: { id, project } })
    if (!asset) return refused('asset_not_found', { asset: id })
    return { asset: { id, project, mimeType: asset.mimeType, bytes: asset.bytes } }
  }
}

async function readExecution(
  { prisma }: Pick<Database, 'prisma'>,
  { project, execution }: { project: string; execution: string },
): Promise<{ project: string } | Refused> {
  const row = await prisma.execution.findFirst({ where: { id: execution, project }, select: { project: true } })
  return row ?? refused('execution_not_found', { execution })
}
