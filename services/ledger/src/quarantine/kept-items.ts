import { openItemBatcher } from '@gateway/service-kit/async/batcher'
import type { CompleteItem } from '@gateway/ledger-protocol/flow-items'
import type { SettleItem } from '@gateway/ledger-protocol/ledger-items'
import { classify } from '../admissions/classify-error.ts'
import type { Deps } from '../deps.ts'
import { bisect } from './resilient-batches.ts'

// Keeps closings whose sender no longer retries them, until they are decided.
//   K1  An item is on disk before its sender receives the outcome, so no settlement is lost once its sender stops. An
//       item that cannot be written at all, because its id is not valid text for Postgres, names nothing that is on the
//       books.
//   K2  While it is kept, its reservation or node does not count as abandoned (reservation-reaper, node-rescuer,
//       deadline-enforcer).
//   K3  It is submitted again like any other item, after its own back-off, and deleted once it is decided.

export type KeepDeps = Pick<Deps, 'reads' | 'quarantine'> & { metrics: Pick<Deps['metrics'], 'keepFailed'> }

export type KeptItem = SettleItem | CompleteItem

/** Returns the name of a kept item: the id of its reservation, or its lease of a node. */
function nameOfKept(item: KeptItem): string {
  return item.op === 'settle' ? item.id : `${item.execution} ${item.node} ${item.lease}`
}

interface Keeping {
  item: KeptItem
  error: string
  resolve: (mayStop: boolean) => void
}

const BATCH_SIZE = 64

/** Keeps items in batches, each once. Returns for each whether its sender may stop. */
export function openKeptItems({ reads, quarantine, metrics }: KeepDeps) {
  const batcher = openItemBatcher<Keeping>({ maxItems: BATCH_SIZE, run: keep, defer: setImmediate })

  async function keep(batch: Keeping[]): Promise<void> {
    try {
      await insert(batch)
      for (const { item, resolve } of batch) {
        quarantine.kept.add(nameOfKept(item))
        resolve(true)
      }
    } catch (error) {
      const isFinal = classify(error) === 'final'
      if (isFinal && batch.length > 1) for (const half of bisect(batch)) await keep(half)
      else
        for (const { item, resolve } of batch) {
          metrics.keepFailed(nameOfKept(item), error)
          resolve(isFinal) // K1
        }
    }
  }

  async function insert(batch: Keeping[]): Promise<void> {
    await reads.prisma.$executeRawUnsafe(
      `INSERT INTO money.quarantined_items (name, project, item, error, kept_at, next_try_at)
       SELECT name, coalesce((SELECT project FROM money.reservations WHERE id = owner),
                             (SELECT project FROM money.executions WHERE id = owner)),
              item, error, clock_timestamp(), clock_timestamp()
         FROM unnest($1::text[], $2::text[], $3::bytea[], $4::text[]) AS k (name, owner, item, error)
       ON CONFLICT DO NOTHING`,
      batch.map(({ item }) => nameOfKept(item)),
      batch.map(({ item }) => (item.op === 'settle' ? item.id : item.execution)),
      batch.map(({ item }) => Buffer.from(JSON.stringify(item))),
      batch.map(({ error }) => error),
    )
  }

  return (item: KeptItem, error: string): Promise<boolean> =>
    quarantine.kept.has(nameOfKept(item))
      ? Promise.resolve(true)
      : new Promise((resolve) => batcher.add({ item, error, resolve }))
}

interface Row {
  name: string
  project: string | null
  item: Uint8Array
}

/** Short: most turns are answered from memory, which has a back-off as well (quarantine.ts) and spares Postgres. */
const BACK_OFF_SECONDS = 4

/** Takes kept items that are due, and postpones their next turn so that no other replica takes them. */
export async function takeKeptItems(
  { reads: { prisma } }: Pick<Deps, 'reads'>,
  max: number,
): Promise<{ name: string; project: string | null; item: KeptItem }[]> {
  const rows = await prisma.$queryRawUnsafe<Row[]>(
    `UPDATE money.quarantined_items SET
            tries = tries + 1,
            next_try_at = clock_timestamp() + least(2 ^ least(tries, 10), $2::integer) * interval '1 second'
      WHERE name IN (SELECT name FROM money.quarantined_items WHERE next_try_at <= clock_timestamp()
                      ORDER BY next_try_at LIMIT $1::integer FOR UPDATE SKIP LOCKED)
      RETURNING name, project, item`,
    max,
    BACK_OFF_SECONDS,
  )
  return rows.map(({ name, project, item }) => ({
    name,
    project,
    item: JSON.parse(Buffer.from(item).toString()) as KeptItem,
  }))
}

/** Deletes decided items. Other kept items of their projects may now succeed too and become due immediately. */
export async function forgetKeptItems(
  { reads: { prisma }, quarantine }: Pick<Deps, 'reads' | 'quarantine'>,
  decided: readonly { name: string; project: string | null }[],
): Promise<void> {
  for (const { name } of decided) quarantine.kept.delete(name)
  await prisma.$executeRawUnsafe(
    `DELETE FROM money.quarantined_items WHERE name = ANY ($1::text[])`,
    decided.map(({ name }) => name),
  )
  await prisma.$executeRawUnsafe(
    `UPDATE money.quarantined_items SET next_try_at = clock_timestamp() WHERE project = ANY ($1::text[])`,
    decided.flatMap(({ project }) => project ?? []),
  )
}

interface Named {
  id: string
  project: string
}

/** Returns the projects of open reservations, by id. Other ids are left out. */
export async function projectsOfReservations(
  { reads: { prisma } }: Pick<Deps, 'reads'>,
  ids: readonly string[],
): Promise<Map<string, string>> {
  return byId(
    await prisma.$queryRawUnsafe<Named[]>(
      `SELECT id, project FROM money.reservations WHERE id = ANY ($1::text[])`,
      ids,
    ),
  )
}

/** Returns the projects of executions, by id. */
export async function projectsOfExecutions(
  { reads: { prisma } }: Pick<Deps, 'reads'>,
  ids: readonly string[],
): Promise<Map<string, string>> {
  return byId(
    await prisma.$queryRawUnsafe<Named[]>(`SELECT id, project FROM money.executions WHERE id = ANY ($1::text[])`, ids),
  )
}

function byId(rows: Named[]): Map<string, string> {
  return new Map(rows.map(({ id, project }) => [id, project]))
}
