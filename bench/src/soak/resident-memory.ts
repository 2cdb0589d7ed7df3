import { readFile } from 'node:fs/promises'

/** Resident memory of a process, in MiB. */
export async function residentMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]
  if (kib === undefined) throw new Error(`/proc/${pid}/status tells no resident memory.`)
  return Number(kib) / 1024
}
