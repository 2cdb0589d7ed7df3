import { readFileSync } from 'node:fs'
import { z } from 'zod'

export type Environment = Readonly<Record<string, string | undefined>>

/** The operator can clear this: one sentence per wrong or missing variable, none of them holding a secret value. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

/**
 * Reads the variables that a schema names. The keys are environment variable names, and each field says what it is for
 * by `.meta({ description })`, and by `.meta({ description, secret: true })` that its value is never shown.
 *
 * An empty value counts as absent. `NAME_FILE` names a file that holds the value (mounted secrets); the line break at
 * its end is not part of it. Throws a `ConfigurationError` with every problem at once.
 */
export function readConfig<Schema extends z.ZodObject>(schema: Schema, env: Environment): z.output<Schema> {
  const values: Record<string, string> = {}
  const problems: string[] = []
  for (const [name, field] of Object.entries(schema.shape)) {
    const found = findValue(name, env)
    if (found.kind === 'value') values[name] = found.value
    if (found.kind === 'problem') problems.push(`${subject(name, field)} ${found.problem}`)
  }
  if (problems.length > 0) throw new ConfigurationError(problems)

  const result = schema.safeParse(values)
  if (result.success) return result.data
  throw new ConfigurationError(sentences(schema, values, result.error.issues))
}

export interface FieldMeaning {
  description: string
  secret: boolean
}

/** What a field is for, also when an optional or a default was put around it after its `.meta()`. */
export function fieldMeaning(field: z.core.$ZodType): FieldMeaning {
  const meta = z.globalRegistry.get(field)
  if (meta?.description) return { description: meta.description, secret: meta['secret'] === true }
  const { innerType } = field._zod.def as { innerType?: z.core.$ZodType }
  return innerType ? fieldMeaning(innerType) : { description: '', secret: false }
}

type Found = { kind: 'absent' } | { kind: 'value'; value: string } | { kind: 'problem'; problem: string }

function findValue(name: string, env: Environment): Found {
  const direct = env[name] || undefined
  const file = env[`${name}_FILE`] || undefined
  if (direct !== undefined && file !== undefined) {
    return { kind: 'problem', problem: `is given twice: unset either ${name} or ${name}_FILE.` }
  }
  if (direct !== undefined) return { kind: 'value', value: direct }
  if (file === undefined) return { kind: 'absent' }
  try {
    const value = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
    if (value === '') return { kind: 'problem', problem: `is empty: the file ${file} (${name}_FILE) holds nothing.` }
    return { kind: 'value', value }
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unknown error'
    return { kind: 'problem', problem: `can't be read from ${file} (${name}_FILE): ${reason}.` }
  }
}

function sentences(schema: z.ZodObject, values: Record<string, string>, issues: readonly z.core.$ZodIssue[]): string[] {
  const byVariable = new Map<string, z.core.$ZodIssue[]>()
  for (const issue of issues) {
    const name = String(issue.path[0] ?? '')
    byVariable.set(name, [...(byVariable.get(name) ?? []), issue])
  }
  return [...byVariable].map(([name, of]) => {
    const field = schema.shape[name]
    if (!field) return of.map((issue) => issue.message).join('; ')
    const value = values[name]
    if (value === undefined) return `${subject(name, field)} is missing: ${whyNeeded(name, of)}`
    const wrong = of.map((issue) => complaint(issue)).join('; ')
    return `${subject(name, field)} is wrong: ${wrong}${shown(field, value)}.`
  })
}

/** A rule over several variables says by itself why this one is needed. */
function whyNeeded(name: string, issues: readonly z.core.$ZodIssue[]): string {
  const rule = issues.find((issue) => issue.code === 'custom')
  return rule ? rule.message : `set ${name}, or ${name}_FILE to a file that holds it.`
}

function subject(name: string, field: z.core.$ZodType): string {
  const { description } = fieldMeaning(field)
  return description ? `${name} (${description})` : name
}

function complaint(issue: z.core.$ZodIssue): string {
  const message = issue.message.replace(/^Invalid (input|option): /, '').replace(/\.$/, '')
  const inside = issue.path.slice(1).join('.')
  return inside ? `at ${inside}: ${message}` : message
}

function shown(field: z.core.$ZodType, value: string): string {
  return fieldMeaning(field).secret ? '' : `; it is "${value.length > 80 ? `${value.slice(0, 80)}…` : value}"`
}
