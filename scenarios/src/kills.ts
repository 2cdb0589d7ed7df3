import type { ProcessStack } from './stack.ts'

/** Kills a process and starts it again, with these settings as well. */
export async function killed(
  program: ProcessStack['workers'][number],
  settings: Record<string, string> = {},
): Promise<void> {
  await program.kill()
  await program.start(settings)
}

/** Resolves once this many have ended, so that what is killed is killed in the middle of others. */
export async function ended(records: unknown[], count: number): Promise<void> {
  while (records.length < count) await new Promise((resolve) => setTimeout(resolve, 10))
}
