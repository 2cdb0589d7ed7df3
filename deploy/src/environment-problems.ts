import { describeConfig } from '@gateway/service-kit/process/config'
import type { z } from 'zod'
import type { Program } from './programs.ts'

/** What a manifest sets: a text, or null where it refers to a secret whose text no one knows here. */
export type Given = Record<string, string | null>

/**
 * What is wrong with an environment for a program: a name that it does not read, a variable that it needs and does not get,
 * one that is given twice, and a text that it would refuse. `NAME_FILE` stands for `NAME`, and an empty text for none.
 */
export function environmentProblems({ variables, alsoReads }: Omit<Program, 'routes'>, given: Given): string[] {
  const known = new Set(Object.keys(variables.shape))
  const problems: string[] = []
  const set = new Set<string>()

  for (const [name, text] of Object.entries(given)) {
    const subject = known.has(name) ? name : name.replace(/_FILE$/, '')
    if (!known.has(subject)) {
      if (!alsoReads.test(name)) problems.push(`${name} is not read by any service`)
      continue
    }
    if (text === '') continue
    if (set.has(subject)) problems.push(`${subject} is set twice`)
    set.add(subject)
    if (subject !== name || text === null) continue
    const read = (variables.shape[name] as z.ZodType).safeParse(text)
    if (!read.success) problems.push(`${name} is wrong: ${read.error.issues.map(({ message }) => message).join('; ')}`)
  }
  for (const { name, required } of describeConfig(variables))
    if (required && !set.has(name)) problems.push(`${name} is missing`)
  return problems
}
