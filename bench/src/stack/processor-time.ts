import { readdirSync, readFileSync } from 'node:fs'

const MS_PER_TICK = 10 // the kernel reports hundredths of a second, regardless of its timer frequency

/**
 * The processor time used so far by a process and its children, in milliseconds, including ended children, such as the
 * backends of a Postgres. Null without /proc.
 */
export function processorTimeMs(pid: number): number | null {
  const own = statOf(String(pid))
  if (own === null) return null
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(statOf)
  return [own, ...children.filter((stat) => stat?.parent === pid)].reduce((sum, stat) => sum + (stat?.ms ?? 0), 0)
}

/** Of each named process, as above; those without a figure are left out. */
export function processorTimesMs(pids: Record<string, number>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(pids).flatMap(([name, pid]) => {
      const ms = processorTimeMs(pid)
      return ms === null ? [] : [[name, ms]]
    }),
  )
}

function statOf(pid: string): { parent: number; ms: number } | null {
  try {
    // The name in parentheses may contain spaces; after it follow state, parent, … and from the 12th field on user and
    // system time, of the process and of the children that it has waited for.
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    return { parent: Number(fields[1]), ms: ticks * MS_PER_TICK }
  } catch {
    return null
  }
}
