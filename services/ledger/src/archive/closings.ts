import type { Database } from '@gateway/database/client'
import { windowsOf } from '../check/checkpoint.ts'
import type { Manifest } from './manifest.ts'
import { startOf, type Month } from './month.ts'
import { NotArchivable } from './not-archivable.ts'
import { windowsText, type Closing } from './wallet-line.ts'

// The newest archived entry of each wallet, as the database has it.

type Prisma = Database['prisma']

const AT_ONCE = 1_000
const RECORD_MS = 300_000

/** Every wallet of which something is archived. One row a wallet, however many entries it has. */
export async function readClosings({ prisma }: Pick<Database, 'prisma'>): Promise<Map<string, Closing>> {
  const closings = new Map<string, Closing>()
  for (let project = ''; ;) {
    const rows = await prisma.archivedWallet.findMany({
      where: { project: { gt: project } },
      orderBy: { project: 'asc' },
      take: AT_ONCE,
    })
    for (const { project: of, windows, seq, at, funded, reserved, settled, seal } of rows)
      closings.set(of, {
        at: { seq, at, funded, reserved, settled, seal: Buffer.from(seal) },
        windows: windowsOf(windows),
      })
    if (rows.length < AT_ONCE) return closings
    project = rows.at(-1)!.project
  }
}

interface VerifiedMonth {
  month: Month
  folder: string
  manifest: Manifest
  /** SHA-256 of the manifest, hex. */
  sha256: string
  moved: readonly string[]
  closings: ReadonlyMap<string, Closing>
}

/** Notes that a month is archived: from then on the check of the books begins behind it. All of it or nothing. */
export async function recordMonth({ prisma }: Pick<Database, 'prisma'>, verified: VerifiedMonth): Promise<void> {
  const { month, folder, manifest, sha256, moved, closings } = verified
  await prisma.$transaction(
    async (tx) => {
      const attempts = manifest.attempts.map((file) => startOf(file.month))
      const written = await tx.$executeRaw`
        INSERT INTO money.archives (month, manifest, folder, entries, attempts, at)
        VALUES (${startOf(month)}::date, ${Buffer.from(sha256, 'hex')}, ${folder}, ${BigInt(manifest.journal.rows)},
                ${attempts}::date[], now())
        ON CONFLICT DO NOTHING`
      if (written === 0) throw new NotArchivable(`${month} was archived by somebody else meanwhile.`)
      for (let at = 0; at < moved.length; at += AT_ONCE)
        await record(tx, month, moved.slice(at, at + AT_ONCE), closings)
    },
    { timeout: RECORD_MS },
  )
}

async function record(
  tx: Pick<Prisma, '$executeRaw'>,
  month: Month,
  projects: readonly string[],
  closings: ReadonlyMap<string, Closing>,
): Promise<void> {
  const rows = projects.map((project) => closings.get(project)!)
  await tx.$executeRaw`
    INSERT INTO money.archived_wallets AS w (project, month, seq, at, funded, reserved, settled, seal, windows)
    SELECT r.project, ${startOf(month)}::date, r.seq, r.at, r.funded, r.reserved, r.settled, decode(r.seal, 'hex'), r.windows
      FROM unnest(${[...projects]}::text[], ${rows.map(({ at }) => at.seq)}::bigint[], ${rows.map(({ at }) => at.at!)}::timestamptz[],
                  ${rows.map(({ at }) => at.funded)}::bigint[], ${rows.map(({ at }) => at.reserved)}::bigint[],
                  ${rows.map(({ at }) => at.settled)}::bigint[], ${rows.map(({ at }) => at.seal.toString('hex'))}::text[],
                  ${rows.map(({ windows }) => windowsText(windows))}::text[])
           r (project, seq, at, funded, reserved, settled, seal, windows)
    ON CONFLICT (project) DO UPDATE SET
      month = excluded.month, seq = excluded.seq, at = excluded.at, funded = excluded.funded,
      reserved = excluded.reserved, settled = excluded.settled, seal = excluded.seal, windows = excluded.windows`
}
