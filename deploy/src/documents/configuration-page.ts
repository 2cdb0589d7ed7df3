import { providerConfig } from '@gateway/providers/provider-config'
import { configTable } from '@gateway/service-kit/process/config'
import { z } from 'zod'
import { programs, services, type ProgramName } from '../programs.ts'

const purposes: Record<Exclude<ProgramName, 'provider'>, string> = {
  gateway: 'The edge. It holds no credentials of the database. `PROVIDERS` is described below.',
  worker: 'Runs nodes. It holds no credentials of the database. `PROVIDERS` is described below.',
  ledger: 'The book of record.',
  console: 'Users, projects, keys and products, and the web console.',
  migrate: 'The job that brings the database up to a version, before its services start.',
  archive:
    'The job `ledger archive`, which writes closed months of the books to files ([operating](operating.md#archive)).',
  seed: 'Fills an empty stack with something to try. Not for a real one.',
}

const heading = `# Configuration

Every program reads its environment and nothing else. An empty value counts as absent, and \`NAME_FILE\` may name a file that holds
the value of any variable, such as a mounted secret. A wrong value stops the start with one sentence that names the variable; the exit
code is 78 then. This page is made from the schemas that read the variables.

The four services also heed the variables of the OpenTelemetry SDK (\`OTEL_*\`) as far as there is a collector. What
\`npm start\` reads is in [stack-config.ts](../tools/local-stack/src/stack-config.ts).
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
    const meaning = name === 'kind' ? `Its wire format: ${names.join(' or ')}.` : `${field.description ?? ''}${only}`
    const fallback =
      field.default === undefined ? (required ? 'required' : 'none') : `\`${JSON.stringify(field.default)}\``
    return `| \`${name}\` | ${meaning} | ${fallback} |`
  })
  return `## PROVIDERS

JSON: an object with an entry for each provider, by the name that the routes of products use. Its key is best named by \`apiKeyFile\` or
\`apiKeyEnv\`. Where \`PROVIDER_ALLOWED_HOSTS\` is set (hosts with commas between them), no other host may be called.

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
