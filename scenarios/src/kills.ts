import type { ProcessStack } from './stack.ts'

/** Kills a process and starts it again. */
export async function killed(program: ProcessStack['workers'][number]): Promise<void> {
  await program.kill()
  await program.start()
}

/** Resolves once so many have ended, so that what is killed is killed in the middle of others. */
export async function ended(records: unknown[], count: number): Promise<void> {
  while (records.length < count) await new Promise((resolve) => setTimeout(resolve, 10))
}
