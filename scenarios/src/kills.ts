import type { ProcessStack } from './stack.ts'

/** Kills a process and restarts it with additional settings. */
export async function killed(
  program: ProcessStack['workers'][number],
  settings: Record<string, string> = {},
): Promise<void> {
  await program.kill()
  await program.start(settings)
}

/** Resolves once this many records exist, so that kills happen while others run. */
export async function ended(records: unknown[], count: number): Promise<void> {
  while (records.length < count) await new Promise((resolve) => setTimeout(resolve, 10))
}
