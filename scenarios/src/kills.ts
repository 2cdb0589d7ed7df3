import type { ProcessStack } from './stack.ts'

/** Kills a process and restarts it. */
export async function killed(program: ProcessStack['workers'][number]): Promise<void> {
  await program.kill()
  await program.start()
}

/** Resolves once this many records exist, so that kills happen while others run. */
export async function ended(records: unknown[], count: number): Promise<void> {
  while (records.length < count) await new Promise((resolve) => setTimeout(resolve, 10))
}
