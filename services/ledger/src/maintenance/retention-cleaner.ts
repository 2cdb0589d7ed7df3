import { idempotencyKeyLimits } from '@gateway/api/limits'
import type { Deps } from '../deps.ts'

const MAX_ROWS = 1_000
const REFUSAL_DAYS = 90
const NOTICE_DAYS = 90
const PROVIDER_DAYS = 8
const { keptDays } = idempotencyKeyLimits

/**
 * Deletes idempotency keys, refusals and notices whose retention is over, instances that ended long ago, destinations and
 * days left of deleted projects, and pending deliveries of deleted webhooks.
 */
export async function cleanRetention({ reads: { prisma } }: Pick<Deps, 'reads'>) {
  // A key whose call is still open is kept, however old. A new attempt resets its age: the age is a condition of the
  // deletion itself, which Postgres checks again if an attempt has changed the row meanwhile.
  const idempotencyKeys = await deleteInParts(
    () => prisma.$executeRaw`
      DELETE FROM money.idempotency_keys
       WHERE created_at < now() - ${keptDays}::int * interval '1 day'
         AND (project, scope, key) IN (
           SELECT project, scope, key FROM money.idempotency_keys k
            WHERE created_at < now() - ${keptDays}::int * interval '1 day'
              AND NOT EXISTS (SELECT FROM money.reservations r WHERE r.id = k.reservation)
            LIMIT ${MAX_ROWS}::int)`,
  )
  const instances = await prisma.$executeRaw`
    DELETE FROM money.instances i WHERE ended_at < now() - interval '1 day'
       AND NOT EXISTS (SELECT FROM money.reservations r WHERE r.instance = i.id)`
  const notices = await deleteInParts(
    () => prisma.$executeRaw`
      DELETE FROM money.notices WHERE id IN (
        SELECT id FROM money.notices WHERE at < now() - ${NOTICE_DAYS}::int * interval '1 day' LIMIT ${MAX_ROWS}::int)`,
  )
  const webhooks = await deleteInParts(
    () => prisma.$executeRaw`
      DELETE FROM money.webhooks WHERE id IN (
        SELECT w.id FROM money.webhooks w
         WHERE NOT EXISTS (SELECT FROM control.projects p WHERE p.id = w.project) LIMIT ${MAX_ROWS}::int)`,
  )
  await prisma.$executeRaw`
    DELETE FROM money.days_left_thresholds t WHERE NOT EXISTS (SELECT FROM control.projects p WHERE p.id = t.project)`
  // A settlement that runs while a webhook is deleted may still add a delivery, which would take a place until it ends.
  const deliveries = await deleteInParts(
    () => prisma.$executeRaw`
      DELETE FROM money.webhook_deliveries WHERE (notice, webhook) IN (
        SELECT d.notice, d.webhook FROM money.webhook_deliveries d
         WHERE NOT EXISTS (SELECT FROM money.notices n WHERE n.id = d.notice)
        UNION
        SELECT d.notice, d.webhook FROM money.webhook_deliveries d
         WHERE d.state = 'Pending' AND NOT EXISTS (SELECT FROM money.webhooks w WHERE w.id = d.webhook)
         LIMIT ${MAX_ROWS}::int)`,
  )
  await prisma.$executeRaw`
    DELETE FROM money.execution_usage WHERE day < (now() AT TIME ZONE 'UTC')::date - ${keptDays}::int`
  const refusals = await cleanRefusals({ reads: { prisma } })
  return {
    idempotencyKeys,
    instances,
    notices,
    webhooks,
    deliveries,
    ...refusals,
    ...(await cleanProviders({ reads: { prisma } })),
  }
}

async function cleanRefusals({ reads: { prisma } }: { reads: Pick<Deps['reads'], 'prisma'> }) {
  const refusals = await deleteInParts(
    () => prisma.$executeRaw`
      DELETE FROM money.refusal_hours WHERE (project, hour, key, code) IN (
        SELECT project, hour, key, code FROM money.refusal_hours
         WHERE hour < now() - ${REFUSAL_DAYS}::int * interval '1 day' LIMIT ${MAX_ROWS}::int)`,
  )
  const latestRefusals = await deleteInParts(
    () => prisma.$executeRaw`
      DELETE FROM money.latest_refusals WHERE (project, at, request) IN (
        SELECT project, at, request FROM money.latest_refusals
         WHERE at < now() - ${REFUSAL_DAYS}::int * interval '1 day' LIMIT ${MAX_ROWS}::int)`,
  )
  const senders = await prisma.$executeRaw`DELETE FROM money.refusal_senders WHERE at < now() - interval '1 day'`
  return { refusals, latestRefusals, senders }
}

/** The states of a process that ended without a last report go with its sender. */
async function cleanProviders({ reads: { prisma } }: { reads: Pick<Deps['reads'], 'prisma'> }) {
  const providerSlots = await deleteInParts(
    () => prisma.$executeRaw`
      DELETE FROM money.provider_slots WHERE (slot, provider, model, product) IN (
        SELECT slot, provider, model, product FROM money.provider_slots
         WHERE slot < now() - ${PROVIDER_DAYS}::int * interval '1 day' LIMIT ${MAX_ROWS}::int)`,
  )
  await prisma.$executeRaw`
    DELETE FROM money.provider_failures WHERE at < now() - ${PROVIDER_DAYS}::int * interval '1 day'`
  await prisma.$executeRaw`DELETE FROM money.provider_senders WHERE at < now() - interval '1 day'`
  await prisma.$executeRaw`
    DELETE FROM money.provider_states s
     WHERE NOT EXISTS (SELECT FROM money.provider_senders p WHERE p.sender = s.sender)`
  return { providerSlots }
}

async function deleteInParts(deletePart: () => Promise<number>): Promise<number> {
  let deleted = 0
  for (let part = MAX_ROWS; part === MAX_ROWS; deleted += part) part = await deletePart()
  return deleted
}

/** Deletes assets older than their project keeps them, and those of deleted projects, some at a time (D1 of assets.ts). */
export async function expireAssets({ reads: { prisma } }: Pick<Deps, 'reads'>) {
  let expired = 0
  for (let part = MAX_ROWS; part === MAX_ROWS; expired += part)
    part = await prisma.$executeRaw`
      UPDATE money.assets SET deleted_at = now() WHERE deleted_at IS NULL AND id = ANY (ARRAY(
        SELECT a.id FROM money.asset_usage u
          LEFT JOIN control.projects p ON p.id = u.project
         CROSS JOIN LATERAL (
           SELECT o.id FROM money.assets o
            WHERE o.project = u.project AND o.deleted_at IS NULL
              AND o.created_at < CASE WHEN p.id IS NULL THEN 'infinity'
                                      ELSE now() - p.asset_retention_days * interval '1 day' END
            ORDER BY o.created_at LIMIT ${MAX_ROWS}::int) a
         WHERE u.assets > 0 LIMIT ${MAX_ROWS}::int))`
  return { expired }
}

/**
 * Deletes captured content whose retention is over, and that of projects that turned capture off, some at a time. Projects
 * are found by skipping from one to the next in the index.
 */
export async function expireContent({ reads: { prisma } }: Pick<Deps, 'reads'>) {
  const contents = await deleteInParts(
    () => prisma.$executeRaw`
      WITH RECURSIVE held AS (
        (SELECT c.project FROM money.captured_content c ORDER BY c.project LIMIT 1)
        UNION ALL
        SELECT (SELECT c.project FROM money.captured_content c WHERE c.project > h.project ORDER BY c.project LIMIT 1)
          FROM held h WHERE h.project IS NOT NULL)
      DELETE FROM money.captured_content WHERE invocation = ANY (ARRAY(
        SELECT old.invocation FROM held h
          LEFT JOIN control.projects p ON p.id = h.project AND p.capture IS NOT NULL
         CROSS JOIN LATERAL (
           SELECT c.invocation FROM money.captured_content c
            WHERE c.project = h.project
              AND c.at < coalesce(greatest(
                    (p.capture ->> 'since')::timestamptz,
                    now() - (p.capture ->> 'retentionDays')::int * interval '1 day'), 'infinity')
            LIMIT ${MAX_ROWS}::int) old
         WHERE h.project IS NOT NULL LIMIT ${MAX_ROWS}::int))`,
  )
  return { contents }
}
