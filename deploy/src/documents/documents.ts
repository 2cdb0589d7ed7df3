import path from 'node:path'
import { openApiDocument } from '@gateway/api/openapi-document'
import { projectFolder } from '../render.ts'
import { configurationPage } from './configuration-page.ts'
import { dashboards, grafanaJson } from './dashboards.ts'
import { prometheusRule } from './prometheus-rule.ts'
import { refusalsPage } from './refusals-page.ts'

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
