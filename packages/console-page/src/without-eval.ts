/**
 * Banner for every built file that contains zod, because any of them may load first. It turns off code generation in
 * zod, which the content security policy blocks.
 */
export function withoutEval({ moduleIds }: { moduleIds: readonly string[] }): string {
  return moduleIds.some((id) => id.includes('/zod/v4/')) ? 'globalThis.__zod_globalConfig = { jitless: true };' : ''
}
