import { isDeepStrictEqual } from 'node:util'
import type { CaptureSettings } from '@gateway/api/console/capture'
import type { StoredCapture } from '@gateway/ledger-protocol/captured-content'
import { refuse } from '@gateway/api/refusal'
import { patternFault } from '@gateway/capture/pattern-fault'
import type { ConsoleDeps } from '../deps.ts'

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
