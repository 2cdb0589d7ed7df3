import type { ContentKeys } from '@gateway/capture/content-keys'
import type { ConsoleDeps } from '../deps.ts'

/**
 * Replaces the public keys that were derived from the previous CAPTURE_KEY, so that it can be dropped once what it
 * sealed has been deleted. Returns how many.
 */
export async function renewPublicKeys(
  { prisma }: Pick<ConsoleDeps, 'prisma'>,
  contentKeys: Pick<ContentKeys, 'publicKeyOf'>,
): Promise<number> {
  const capturing = await prisma.$queryRaw<{ id: string; public_key: string }[]>`
    SELECT id, capture ->> 'publicKey' AS public_key FROM control.projects WHERE capture IS NOT NULL`
  const outdated = capturing.filter(({ id, public_key: key }) => key !== contentKeys.publicKeyOf(id))
  for (const { id, public_key: key } of outdated)
    await prisma.$executeRaw`
      UPDATE control.projects SET capture = capture || jsonb_build_object('publicKey', ${contentKeys.publicKeyOf(id)}::text)
       WHERE id = ${id} AND capture ->> 'publicKey' = ${key}`
  return outdated.length
}
