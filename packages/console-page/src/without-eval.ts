/**
 * What stands before everything else of a built file that has zod in it, whichever file is loaded first: the policy of the page forbids
 * to make code of text, and zod would try.
 */
export function withoutEval({ moduleIds }: { moduleIds: readonly string[] }): string {
  return moduleIds.some((id) => id.includes('/zod/v4/')) ? 'globalThis.__zod_globalConfig = { jitless: true };' : ''
}
