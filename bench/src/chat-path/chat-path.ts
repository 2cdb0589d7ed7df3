import type { BenchNeeds } from '../benches.ts'
export async function chatPath(_: BenchNeeds): Promise<string> {
  throw new Error('not yet')
}
