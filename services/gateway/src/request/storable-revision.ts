/** As high as Postgres counts them; no sandbox product has so many. */
const MAX_REVISION = 2_147_483_647

/** A number of a revision as it can be looked for: one beyond what Postgres holds is none that there could be. */
export function storableRevision(revision: number | null): number | null {
  return revision === null ? null : Math.min(revision, MAX_REVISION)
}
