import path from 'node:path'
import { openApiDocument } from '@gateway/api/openapi-document'
import { projectFolder } from '../render.ts'
import { dashboards, grafanaJson } from './dashboards.ts'
import { refusalsPage } from './refusals-page.ts'
import { readFileSync } from 'node:fs'
import { parse, stringify } from 'yaml'
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
function configurationPage(): string {
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

/** Writes every one of them again. */
export const RENEW = 'npm run documents'

/** What is made from the code and kept alongside it, so that it can be read without running anything: file and content. */
export const documents: Record<string, () => string> = {
  'docs/refusals.md': refusalsPage,
  'docs/configuration.md': configurationPage,
  'docs/openapi.json': () => `${JSON.stringify(openApiDocument(), null, 2)}\n`,
  'deploy/kubernetes/components/prometheus-operator/alerts.yaml': prometheusRule,
  ...Object.fromEntries(
    dashboards.map((board) => [`deploy/observability/grafana/dashboards/${board.uid}.json`, () => grafanaJson(board)]),
  ),
}

export function fileOf(document: string): string {
  return path.join(projectFolder, document)
}

interface AlertRule {
  alert: string
  expr: string
  for?: string
  labels: { severity: 'page' | 'ticket' }
  annotations: { summary: string; runbook?: string }
}

interface AlertGroup {
  name: string
  rules: AlertRule[]
}

/** The alert rules, as deploy/observability has them. */
export function readAlerts(): AlertGroup[] {
  const text = readFileSync(path.join(projectFolder, 'deploy/observability/alerts.yaml'), 'utf8')
  return (parse(text) as { groups: AlertGroup[] }).groups
}

/** The same for a Prometheus that its operator runs. */
function prometheusRule(): string {
  const rule = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'model-gateway' },
    spec: { groups: readAlerts() },
  }
  return `# Made from deploy/observability/alerts.yaml.\n${stringify(rule, { lineWidth: 120 })}`
}
