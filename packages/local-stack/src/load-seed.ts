import type { Seed } from './start-stack.ts'

/** The seed stands beside the migrations, outside any package. */
export async function loadSeed(): Promise<Seed> {
  const file = new URL('../../../prisma/seed/seed.ts', import.meta.url)
  const { seed } = (await import(file.href)) as { seed: Seed }
  return seed
}
