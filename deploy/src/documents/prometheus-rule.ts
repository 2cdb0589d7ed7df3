import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parse, stringify } from 'yaml'
import { projectFolder } from '../render.ts'

export interface AlertRule {
  alert: string
  expr: string
  for?: string
  labels: { severity: 'page' | 'ticket' }
  annotations: { summary: string; runbook?: string }
}

export interface AlertGroup {
  name: string
  rules: AlertRule[]
}

/** The alert rules, as deploy/observability has them. */
export function readAlerts(): AlertGroup[] {
  const text = readFileSync(path.join(projectFolder, 'deploy/observability/alerts.yaml'), 'utf8')
  return (parse(text) as { groups: AlertGroup[] }).groups
}

/** The same for a Prometheus that its operator runs. */
export function prometheusRule(): string {
  const rule = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'model-gateway' },
    spec: { groups: readAlerts() },
  }
  return `# Made from deploy/observability/alerts.yaml.\n${stringify(rule, { lineWidth: 120 })}`
}
