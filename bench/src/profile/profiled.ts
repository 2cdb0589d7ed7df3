import { Session } from 'node:inspector/promises'
import { topSelfTimes } from './top-self-times.ts'

/** Runs work of this process under the CPU profiler; returns where the time went, as a table. */
export async function profiled(work: () => Promise<unknown>): Promise<string> {
  const session = new Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.start')
    await work()
    const { profile } = await session.post('Profiler.stop')
    return topSelfTimes(profile)
  } finally {
    session.disconnect()
  }
}
