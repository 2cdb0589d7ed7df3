import type {
  CaptureAnswer,
  CaptureQuestion,
  CaptureRules,
  StoredCapture,
} from '@gateway/ledger-protocol/captured-content'
import type { Deps } from '../deps.ts'

export function rulesOf(capture: StoredCapture): CaptureRules | null {
  if (capture === null) return null
  const { version, publicKey, hide, patterns } = capture
  return { version, publicKey, hide, patterns }
}

/** How a project captures prompts and answers. */
export async function readCaptureRules(
  { reads }: Pick<Deps, 'reads'>,
  { project }: CaptureQuestion,
): Promise<CaptureAnswer> {
  const [row] = await reads.sql.query<{ capture: StoredCapture }>(
    `SELECT p.capture FROM control.projects p WHERE p.id = $1`,
    [project],
  )
  return { rules: rulesOf(row?.capture ?? null) }
}
