import type { Database } from '@gateway/database/client'
import { openLineFile, type FileRecord } from './line-file.ts'
import { attemptsName } from './manifest.ts'
import { endOf, monthBefore, startOf, type Month } from './month.ts'

// Records of use, as files. A call over the midnight of a month has its record in one month, by its id, and entries in
// the next. So records are archived with the month after theirs at the earliest; and they stay while one of them is open,
// or was closed by an entry that is not archived (an id of a gateway whose clock was wrong).

type Prisma = Database['prisma']

const AT_ONCE = 5_000

export type AttemptsFile = FileRecord & { month: Month }

/** Those of the months before this one that are in the tables, and that no entry after this month belongs to. */
export async function writeAttempts(
  { prisma }: Pick<Database, 'prisma'>,
  { folder, month, archived }: { folder: string; month: Month; archived: readonly Month[] },
): Promise<{ files: AttemptsFile[]; staying: Month[] }> {
  const files: AttemptsFile[] = []
  const staying: Month[] = []
  for (const each of await monthsInTables(prisma, monthBefore(month))) {
    // Written before, and not dropped: rows came into it.
    const name = archived.includes(each) ? attemptsName(`${each}-again-${month}`) : attemptsName(each)
    const written = (await isOpen(prisma, each))
      ? null
      : await writeMonth(prisma, each, { folder, name, until: endOf(month) })
    if (written) files.push({ month: each, ...written })
    else staying.push(each)
  }
  return { files, staying }
}

async function monthsInTables(prisma: Prisma, upTo: Month): Promise<Month[]> {
  const rows = await prisma.$queryRaw<{ day: string }[]>`
    SELECT right(c.relname, 8) AS day FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'money.attempts'::regclass AND c.relname ~ '^attempts_[0-9]{6}01$' ORDER BY 1`
  return rows.map(({ day }) => `${day.slice(0, 4)}-${day.slice(4, 6)}`).filter((month) => month <= upTo)
}

async function isOpen(prisma: Prisma, month: Month): Promise<boolean> {
  const [row] = await prisma.$queryRaw<[{ open: boolean }]>`
    SELECT EXISTS (SELECT FROM money.reservations
                    WHERE id COLLATE "C" >= money.id_bound('inv', ${startOf(month)})
                      AND id COLLATE "C" < money.id_bound('inv', ${endOf(month)})) AS open`
  return row.open
}

/** null: one of them was closed at `until` or later, and all stay. */
async function writeMonth(
  prisma: Prisma,
  month: Month,
  { folder, name, until }: { folder: string; name: string; until: Date },
): Promise<FileRecord | null> {
  const [bounds] = await prisma.$queryRaw<[{ first: string; end: string }]>`
    SELECT money.id_bound('inv', ${startOf(month)}) AS first, money.id_bound('inv', ${endOf(month)}) AS end`
  const file = openLineFile(folder, name)
  try {
    // No id is as short as a bound, so all of them are behind it.
    for (let after = bounds.first; ;) {
      const rows = await prisma.$queryRaw<{ id: string; line: string; later: boolean }[]>`
        SELECT id, json_strip_nulls(row_to_json(a))::text AS line, closed_at >= ${until} AS later FROM money.attempts a
         WHERE id > ${after} AND id < ${bounds.end} ORDER BY id LIMIT ${AT_ONCE}::int`
      if (rows.some(({ later }) => later)) {
        await file.abandon()
        return null
      }
      for (const { line } of rows) await file.write(line)
      if (rows.length < AT_ONCE) return await file.finish()
      after = rows.at(-1)!.id
    }
  } catch (error) {
    await file.abandon()
    throw error
  }
}
