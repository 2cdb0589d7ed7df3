import type { z } from 'zod'
import { fieldMeaning } from './config.ts'

export interface DescribedVariable {
  name: string
  description: string
  secret: boolean
  required: boolean
  /** As the program sees it; null where absence is the default. */
  defaultValue: unknown
}

/** The variables of a schema in its order, for tables and for checks against manifests. */
export function describeConfig(schema: z.ZodObject): DescribedVariable[] {
  return Object.entries(schema.shape).map(([name, field]) => {
    const whenAbsent = (field as z.ZodType).safeParse(undefined)
    return { name, ...fieldMeaning(field), required: !whenAbsent.success, defaultValue: whenAbsent.data ?? null }
  })
}

/** The operator's table in Markdown. */
export function configTable(schema: z.ZodObject): string {
  const rows = describeConfig(schema).map((variable) => {
    const description = variable.secret
      ? `${variable.description}. Secret: \`${variable.name}_FILE\` may name a file that holds it`
      : variable.description
    return `| \`${variable.name}\` | ${cell(description)} | ${cell(defaultText(variable))} |`
  })
  return ['| Variable | What it is for | Default |', '|---|---|---|', ...rows, ''].join('\n')
}

function defaultText({ required, defaultValue }: DescribedVariable): string {
  if (required) return 'required'
  if (defaultValue === null) return 'none'
  return `\`${typeof defaultValue === 'string' ? defaultValue : JSON.stringify(defaultValue)}\``
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}
