import { readdirSync, readFileSync } from 'node:fs'

const MS_PER_TICK = 10 // the kernel counts in hundredths of a second, no matter what its own clock is

/**
 * The processor time that a process and its children have used so far, in milliseconds; also those that have ended, as the backends of a
 * Postgres do. Null where there is no /proc.
 */
export function processorTimeMs(pid: number): number | null {
  const own = statOf(String(pid))
  if (own === null) return null
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(statOf)
  return [own, ...children.filter((stat) => stat?.parent === pid)].reduce((sum, stat) => sum + (stat?.ms ?? 0), 0)
}

function statOf(pid: string): { parent: number; ms: number } | null {
  try {
    // The name in parentheses may hold blanks; after it follow state, parent, … and from the 12th on user and system time, its own and
    // of the children that it has waited for.
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    return { parent: Number(fields[1]), ms: ticks * MS_PER_TICK }
  } catch {
    return null
  }
}
