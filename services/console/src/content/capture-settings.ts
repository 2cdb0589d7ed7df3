import { isDeepStrictEqual } from 'node:util'
import type { CaptureSettings } from '@gateway/api/console/capture'
import type { StoredCapture } from '@gateway/ledger-protocol/captured-content'
import { refuse } from '@gateway/api/refusal'
import { patternFault } from '@gateway/capture/hide-text'
import type { ConsoleDeps } from '../deps.ts'
import type { ContentKeys } from '@gateway/capture/content-keys'

/** What users see of how a project captures (rules §7.11). */
export function settingsOf(capture: StoredCapture): CaptureSettings | null {
  if (capture === null) return null
  const { retentionDays, hide, patterns } = capture
  return { retentionDays, hide, patterns }
}

/**
 * Returns what to store for new settings of a project.
 * @throws Refusal `invalid_request` if this installation can't capture, or a pattern is wrong
 */
export function storedCapture(
  { contentKeys, now }: Pick<ConsoleDeps, 'contentKeys' | 'now'>,
  project: string,
  settings: CaptureSettings | null,
  before: StoredCapture,
): StoredCapture {
  if (settings === null || isDeepStrictEqual(settings, settingsOf(before))) return settings && before
  if (contentKeys === null) throw notConfigured()
  for (const [n, pattern] of settings.patterns.entries()) refuseWrongPattern(pattern, `capture.patterns.${n}`)
  const version = now().toISOString()
  return { ...settings, publicKey: contentKeys.publicKeyOf(project), version, since: before?.since ?? version }
}

function refuseWrongPattern(pattern: string, param: string): void {
  const fault = patternFault(pattern)
  if (fault === null) return
  const reason = `${param}: ${JSON.stringify(pattern)} ${fault}.`
  throw refuse('invalid_request', { reason, resolution: 'Send another pattern, or leave it out.' }, { param })
}

function notConfigured() {
  const reason = 'capture: this installation has no key to encrypt captured content with.'
  const resolution = 'Ask the platform operator to set CAPTURE_KEY for the console.'
  return refuse('invalid_request', { reason, resolution }, { param: 'capture' })
}

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
