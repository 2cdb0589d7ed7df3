import type { JournalEntry } from '@gateway/api/console/statement'
import type { ConsoleDeps } from '../deps.ts'
import { authorizeInProject } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { pageOf, readNumberCursor } from '../request/page.ts'
import { userOf } from '../sign-in/user.ts'

type Row = Record<'seq' | 'available' | 'reserved' | 'settled' | 'outside', bigint> &
  Pick<JournalEntry, 'kind' | 'reference' | 'seal'> & { at: Date }

/** GET …/projects/{p}/journal: entries not yet archived, newest first. The last entry of each block has its seal. */
export function listJournal({ prisma }: Pick<ConsoleDeps, 'prisma'>): Handler<'listJournal'> {
  return async (call, res) => {
    const tenant = call.id('tenant')
    // An entry names its call, so it requires the permission to see calls.
    const { id: project } = await authorizeInProject(prisma, userOf(res), tenant, call.id('project'), 'usage.read')
    const { cursor, limit } = call.query()
    const before = cursor === undefined ? null : readNumberCursor(cursor, 18)
    const archived = await prisma.archivedWallet.findUnique({ where: { project }, select: { seq: true } })
    const rows = await prisma.$queryRaw<Row[]>`
      SELECT j.seq, j.kind, j.reference, j.available, j.reserved, j.settled, j.outside, j.at, b.seal
        FROM (SELECT * FROM money.journal
               WHERE project = ${project} AND seq < coalesce(${before}::bigint, 9223372036854775807)
               ORDER BY seq DESC LIMIT ${limit + 1}) j
        LEFT JOIN LATERAL (
          SELECT encode(seal, 'hex') AS seal FROM money.journal_blocks b
           WHERE b.project = j.project AND b.last_seq = j.seq
             AND b.at BETWEEN j.at - interval '1 hour' AND j.at + interval '1 hour' LIMIT 1) b ON true
       ORDER BY j.seq DESC`
    const archivedUpTo = archived === null ? null : Number(archived.seq)
    res.json({ ...pageOf(rows.map(entryOf), limit, ({ seq }) => String(seq)), archivedUpTo })
  }
}

function entryOf({ seq, kind, reference, available, reserved, settled, outside, at, seal }: Row): JournalEntry {
  return {
    seq: Number(seq),
    kind,
    reference,
    available: Number(available),
    reserved: Number(reserved),
    settled: Number(settled),
    outside: Number(outside),
    at: at.toISOString(),
    seal,
  }
}
