import type { ConsoleDeps } from '../deps.ts'

const BATCH = 500

type Deps = Pick<ConsoleDeps, 'prisma'>

/**
 * Gives a batch of committed audit entries their places in the chain (prisma/functions/control/seal_audit.sql). Returns
 * the number.
 */
export async function sealAudit({ prisma }: Deps): Promise<number> {
  const [row] = await prisma.$queryRaw<{ sealed: number }[]>`SELECT sealed FROM control.seal_audit(${BATCH}::int)`
  return row!.sealed
}

/**
 * Deletes a batch of audit entries that are older than this number of days. The chain then begins at the newest of them.
 * Returns the number.
 */
export async function forgetAudit({ prisma }: Deps, days: number): Promise<number> {
  const [row] = await prisma.$queryRaw<{ forgotten: number }[]>`
    SELECT forgotten FROM control.forget_audit(${days}::int, ${BATCH}::int)`
  return row!.forgotten
}

/** Returns the place and seal of the newest sealed entry, for a log outside this database; null: there is none. */
export async function auditAnchor({ prisma }: Deps): Promise<string | null> {
  const newest = await prisma.auditEntry.findFirst({
    where: { position: { not: null } },
    orderBy: { position: 'desc' },
    select: { position: true, seal: true },
  })
  return newest && `${newest.position}:${Buffer.from(newest.seal!).toString('hex')}`
}
