import { quotaValues } from '@gateway/api/quotas'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { logLevels } from './logger.ts'
import { redactText } from '../text/redact.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** The operator can clear this: one sentence per wrong or missing variable, none of which contains a secret value. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

/**
 * Reads the variables of a schema. The keys are environment variable names; each field states its purpose with `.meta({
 * description })`, and with `.meta({ description, secret: true })` that its value is never shown.
 *
 * An empty value counts as absent. `NAME_FILE` names a file with the value (mounted secrets); a final line break is not
 * part of it. Throws a `ConfigurationError` with every problem at once.
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

/** The purpose of a field, also if an optional or a default wraps it after its `.meta()`. */
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

/** A rule over several variables states itself why this one is needed. */
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
  if (fieldMeaning(field).secret) return ''
  const text = redactText(value) // a secret in the wrong variable
  return `; it is "${text.length > 80 ? `${text.slice(0, 80)}…` : text}"`
}

// Environment variables are text. These fields parse the few forms that our configuration uses; each takes a `.meta({
// description })` and, if it has one, a `.default(…)`.

/** A TCP port; 0 lets the kernel choose. */
export function port() {
  return wholeNumber({ min: 0, max: 65_535 })
}

/** Names separated by commas; none if absent. */
export function commaSeparated() {
  return z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== ''),
    )
}

/** An integer, written in digits only. */
export function wholeNumber({ min, max }: { min: number; max: number }) {
  return z
    .string()
    .regex(/^-?\d{1,15}$/, `expected a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `expected a whole number from ${min} to ${max}`)
}

/** `1` or `true` for yes, `0` or `false` for no. */
export function flag() {
  return z.enum(['0', '1', 'false', 'true']).transform((value) => value === '1' || value === 'true')
}

/** An absolute http or https address, without a trailing slash. */
export function httpUrl() {
  return z
    .url({ protocol: /^https?$/, error: 'expected an address that starts with http:// or https://' })
    .transform((value) => value.replace(/\/+$/, ''))
}

/** The address at which browsers reach the service. */
export function publicUrl() {
  return httpUrl()
    .refine((url) => new URL(url).href === `${url}/`, 'expected an address without a path')
    .optional()
}

/** `PREPARED_STATEMENTS`, of every program that a pooler may be in front of. */
export function preparedStatements() {
  return flag()
    .default(true)
    .meta({ description: 'Use prepared statements. Turn off for a PgBouncer without support for them' })
}

/** A random secret shared between two services: at least 32 characters. */
export function sharedSecret() {
  return z.string().min(32, 'expected at least 32 characters')
}

/** JSON text of the given shape. An error inside it names its path. */
export function json<Shape extends z.ZodType>(shape: Shape) {
  return z
    .string()
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text) as unknown
      } catch {
        context.addIssue({ code: 'custom', message: 'expected JSON' })
        return z.NEVER
      }
    })
    .pipe(shape)
}

/** `QUOTAS`: the operator's default quotas, the same for the ledger and the console. */
export function quotasVariable() {
  return json(quotaValues).default({}).meta({
    description:
      'Default quotas of a project, as JSON, for example {"assetBytes":10737418240,"keys":200}. Set the same on the ledger and the console',
  })
}

/** Variables that every service reads. */
export const commonConfig = z.object({
  HOST: z.string().default('127.0.0.1').meta({ description: 'Address to listen on' }),
  PORT: port().default(0).meta({ description: 'Port to listen on; 0 picks a free port' }),
  TLS_CERTIFICATE: z.string().optional().meta({
    description: 'Certificate chain as PEM. With it and TLS_PRIVATE_KEY, the service is reached by https only',
    secret: true, // so that a file may hold it
  }),
  TLS_PRIVATE_KEY: z.string().optional().meta({ description: 'Private key of TLS_CERTIFICATE as PEM', secret: true }),
  METRICS_HOST: z
    .string()
    .default('127.0.0.1')
    .meta({ description: 'Address that /metrics listens on. Must not be reachable by callers' }),
  METRICS_PORT: port().default(0).meta({ description: 'Port of /metrics; 0 picks a free port' }),
  LOG_LEVEL: z.enum(logLevels).default('info').meta({ description: 'Minimum severity to log' }),
  DRAIN_MS: wholeNumber({ min: 0, max: 3_600_000 })
    .default(8_000)
    .meta({ description: 'Time that a shutdown waits for open responses, in milliseconds' }),
  STOP_WITH_PARENT: flag().default(false).meta({ description: 'Stop when the parent process ends' }),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl()
    .optional()
    .meta({ description: 'OpenTelemetry collector (OTLP endpoint). Without it, no traces are recorded' }),
})

export type CommonConfig = z.output<typeof commonConfig>

/** The common fields and the fields of a service, which override common ones: for tables and checks. */
export function serviceConfig(schema: z.ZodObject): z.ZodObject {
  return z.object({ ...commonConfig.shape, ...schema.shape })
}

/**
 * Reads both schemas and reports every problem of both at once. The service's schema is used whole, so its refinements
 * apply.
 */
export function readServiceConfig<Schema extends z.ZodObject>(
  schema: Schema,
  env: Environment,
): CommonConfig & z.output<Schema> {
  const notItsOwn = Object.entries(commonConfig.shape).filter(([name]) => !(name in schema.shape))
  const problems: string[] = []
  const values = [z.object(Object.fromEntries(notItsOwn)), schema].map((part) => {
    try {
      return readConfig(part, env)
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error
      problems.push(...error.problems)
      return {}
    }
  })
  if (problems.length > 0) throw new ConfigurationError(problems)
  return Object.assign({}, ...values) as CommonConfig & z.output<Schema>
}

export interface DescribedVariable {
  name: string
  description: string
  secret: boolean
  required: boolean
  /** As the program sees it; null if the default is to be absent. */
  defaultValue: unknown
}

/** The variables of a schema in order, for tables and for checks against manifests. */
export function describeConfig(schema: z.ZodObject): DescribedVariable[] {
  return Object.entries(schema.shape).map(([name, field]) => {
    const whenAbsent = (field as z.ZodType).safeParse(undefined)
    return { name, ...fieldMeaning(field), required: !whenAbsent.success, defaultValue: whenAbsent.data ?? null }
  })
}

/** The operator's table, in Markdown. */
export function configTable(schema: z.ZodObject): string {
  const rows = describeConfig(schema).map((variable) => {
    const description = variable.secret
      ? `${variable.description}. Secret: \`${variable.name}_FILE\` may name a file that holds it`
      : variable.description
    return `| \`${variable.name}\` | ${cell(description)} | ${cell(defaultText(variable))} |`
  })
  return ['| Variable | Description | Default |', '|---|---|---|', ...rows, ''].join('\n')
}

function defaultText({ required, defaultValue }: DescribedVariable): string {
  if (required) return 'required'
  if (defaultValue === null) return 'none'
  return `\`${typeof defaultValue === 'string' ? defaultValue : JSON.stringify(defaultValue)}\``
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}
