import type {
  CapturedCalls,
  CaptureAnswer,
  CaptureQuestion,
  CaptureRules,
  StoredCapture,
} from '@gateway/ledger-protocol/captured-content'
import type { Deps } from '../deps.ts'

/**
 * Stores sealed prompts and answers of projects that still capture them by the same rules: a change of the rules binds at
 * once, also for calls that are running. Safe to repeat. A later attempt of an invocation replaces an earlier one.
 */
export async function recordContent({ reads }: Pick<Deps, 'reads'>, { calls }: CapturedCalls): Promise<object> {
  await reads.sql.query(
    `INSERT INTO money.captured_content (invocation, project, at, sealed)
     SELECT c.invocation, c.project, clock_timestamp(), c.sealed
       FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS c (invocation, project, version, sealed)
       JOIN control.projects p ON p.id = c.project AND p.capture ->> 'version' = c.version
     ON CONFLICT (invocation) DO UPDATE SET at = excluded.at, sealed = excluded.sealed`,
    [
      calls.map(({ invocation }) => invocation),
      calls.map(({ project }) => project),
      calls.map(({ version }) => version),
      calls.map(({ sealed }) => sealed),
    ],
  )
  return {}
}

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
