import { createHash, randomBytes } from 'node:crypto'
import type { PrismaClient } from '@gateway/database/client'
import { KEY_SECRET_PREFIX, makeSecret, mintId, SHOWN_CHARACTERS } from '@gateway/api/ids'
import { keyLimits } from '@gateway/api/limits'
import { ids } from './ids.ts'
import type { Seeded } from './seeded.ts'

const EXPIRY_DAYS = keyLimits.expiryDays.max
const DAY_MS = 86_400_000

/** A key of each project, and one from before keys were bound to projects. */
export async function seedKeys(
  prisma: PrismaClient,
  before: Partial<Seeded> | null,
): Promise<Pick<Seeded, 'key' | 'legacyKey' | 'otherProject'>> {
  return {
    key: await workingKey(prisma, before?.key, 'First key', ids.project),
    legacyKey: await workingKey(prisma, before?.legacyKey, 'Legacy key', null),
    otherProject: {
      project: ids.otherProject,
      key: await workingKey(prisma, before?.otherProject?.key, 'Key of the other project', ids.otherProject),
    },
  }
}

/** The kept secret, unless it has been revoked, rotated or has expired since: then that of a new key. */
async function workingKey(
  prisma: PrismaClient,
  kept: string | undefined,
  name: string,
  project: string | null,
): Promise<string> {
  if (kept !== undefined) {
    const found = await prisma.key.findUnique({ where: { hash: hashOf(kept) } })
    const expired = found?.expiresAt !== null && (found?.expiresAt ?? 0) <= new Date()
    if (found && found.revokedAt === null && found.rotatedTo === null && !expired) return kept
  }
  const secret = makeSecret(KEY_SECRET_PREFIX, randomBytes(32))
  const now = Date.now()
  const id = mintId('key', now, randomBytes(10))
  await prisma.key.create({
    data: {
      id,
      hash: hashOf(secret),
      prefix: secret.slice(0, SHOWN_CHARACTERS),
      name,
      tenant: ids.tenant,
      project,
      lineage: id,
      policy: 'all-eligible',
      createdBy: ids.user,
      ...(project !== null && { expiresAt: new Date(now + EXPIRY_DAYS * DAY_MS), expiryDays: EXPIRY_DAYS }),
    },
  })
  return secret
}

function hashOf(secret: string): Uint8Array<ArrayBuffer> {
  return createHash('sha256').update(secret).digest()
}
