import { providerConfig } from '@gateway/providers/provider-config'
import { configTable } from '@gateway/service-kit/process/config'
import { z } from 'zod'
import { programs, services, type ProgramName } from '../programs.ts'

const purposes: Record<Exclude<ProgramName, 'provider'>, string> = {
  gateway: 'Serves callers. It has no database credentials. `PROVIDERS` is described below.',
  worker: 'Runs nodes of executions. It has no database credentials. `PROVIDERS` is described below.',
  ledger: 'Keeps the books: wallets, reservations, executions.',
  console: 'Users, projects, keys and products, and the web console.',
  migrate: 'The job that migrates the database before the services of a new version start.',
  archive:
    'The job `ledger archive`, which writes old months of the books to files ([operating](operating.md#archive)).',
  seed: 'Fills an empty stack with sample data. Not for production.',
}

const heading = `# Configuration

Every program is configured by environment variables only. An empty value counts as absent. For any variable, \`NAME_FILE\` may name a file
that holds its value, such as a mounted secret. A program with an invalid value does not start: it prints one sentence that names the
variable, and exits with 78. This page is generated from the schemas that read the variables.

With a collector, the four services also read the variables of the OpenTelemetry SDK (\`OTEL_*\`). The variables of \`npm start\` are in
[stack-config.ts](../tools/local-stack/src/stack-config.ts).
`

/** docs/configuration.md: the variables of each program, and the fields of a provider. */
export function configurationPage(): string {
  const names = [...services, 'migrate', 'archive', 'seed'] as const
  const sections = names.map((name) => `## ${name}\n\n${purposes[name]}\n\n${configTable(programs[name].variables)}`)
  return [heading, ...sections, providersSection()].join('\n')
}

function providersSection(): string {
  const { oneOf, anyOf } = z.toJSONSchema(providerConfig, { io: 'input', unrepresentable: 'any' }) as Record<
    'oneOf' | 'anyOf',
    { properties: Record<string, Field>; required?: string[] }[] | undefined
  >
  const kinds = oneOf ?? anyOf ?? []
  const fields = new Map<string, { field: Field; required: boolean; kinds: string[] }>()
  for (const { properties, required = [] } of kinds) {
    const kind = properties['kind']?.const ?? ''
    for (const [name, field] of Object.entries(properties)) {
      const known = fields.get(name)
      if (known) known.kinds.push(kind)
      else fields.set(name, { field, required: required.includes(name), kinds: [kind] })
    }
  }
  const names = kinds.map(({ properties }) => `\`${properties['kind']?.const}\``)
  const rows = [...fields].map(([name, { field, required, kinds: of }]) => {
    const only = of.length < kinds.length ? ` (${of.join(', ')} only)` : ''
    const meaning = name === 'kind' ? `Wire format: ${names.join(' or ')}.` : `${field.description ?? ''}${only}`
    const fallback =
      field.default === undefined ? (required ? 'required' : 'none') : `\`${JSON.stringify(field.default)}\``
    return `| \`${name}\` | ${meaning} | ${fallback} |`
  })
  return `## PROVIDERS

A JSON object with one entry per provider, under the name that the routes of products use. Prefer \`apiKeyFile\` or \`apiKeyEnv\` to
\`apiKey\`. If \`PROVIDER_ALLOWED_HOSTS\` is set (comma-separated), no other host may be called.

\`\`\`json
{ "main": { "kind": "openai-compatible", "baseUrl": "https://api.example.com/v1", "apiKeyFile": "/run/providers/main-key" } }
\`\`\`

| Field | Description | Default |
|---|---|---|
${rows.join('\n')}
`
}

interface Field {
  const?: string
  description?: string
  default?: unknown
}
