import type { IncomingMessage } from 'node:http'

const MOST_CHARACTERS = 512

/**
 * The project that a call names (spec 4.5): X-Service-Project, X-Project-ID and `project_id` of the body.
 *
 * null when none is there; the value when all agree; otherwise all of them, which equals no project's id, so that the
 * ledger answers `project_mismatch`. An empty value names no project of ours, so it is a mismatch too: whoever sends a
 * selector wants the check, and an unset variable in his script must not switch it off.
 */
export function selectorOf(req: Pick<IncomingMessage, 'headers'>, projectId: string | null): string | null {
  const named = new Set<string>()
  for (const value of [req.headers['x-service-project'], req.headers['x-project-id'], projectId])
    if (typeof value === 'string') named.add(value)
  return named.size === 0 ? null : storable([...named].join(' ')).slice(0, MOST_CHARACTERS)
}

/** A text as Postgres can compare it; it takes no zero character. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD')
}
