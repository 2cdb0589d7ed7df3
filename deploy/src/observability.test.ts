import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { refusals } from '@gateway/api/refusals'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { dashboards } from './documents/dashboards.ts'
import { readAlerts } from './documents/documents.ts'
import { exportedMetrics, metricsAtStart, readQuery } from './exported-metrics.ts'
import { services } from './programs.ts'
import { projectFolder } from './render.ts'

// Alerts, dashboards and scaling ask only for figures that the services give, and each alert says what to do.

const read = (file: string) => readFileSync(path.join(projectFolder, file), 'utf8')
const exported = await exportedMetrics()
const atStart = await metricsAtStart()
const alerts = readAlerts().flatMap(({ rules }) => rules)

const scaler = parse(read('deploy/kubernetes/components/keda/worker.yaml')) as {
  spec: { triggers: { name: string; metadata: { query: string } }[] }
}
const queries: [where: string, expr: string][] = [
  ...alerts.map(({ alert, expr }): [string, string] => [`alert ${alert}`, expr]),
  ...dashboards.flatMap(({ title, panels }) =>
    panels.flatMap((panel) =>
      panel.figures.map(({ expr }, n): [string, string] => [`${title}: ${panel.title} ${n + 1}`, expr]),
    ),
  ),
  ...scaler.spec.triggers.map(({ name, metadata }): [string, string] => [`scaling by ${name}`, metadata.query]),
]

test('a legend names labels one by one, and only those that its query keeps', () => {
  for (const { expr, legend } of dashboards.flatMap(({ panels }) => panels.flatMap(({ figures }) => figures)))
    for (const [, label] of legend.matchAll(/\{\{(.*?)\}\}/g)) {
      expect(label).toMatch(/^\w+$/)
      const kept = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels]) => labels!.split(', '))
      if (kept.length > 0) expect([expr, kept]).toEqual([expr, expect.arrayContaining([label])])
    }
})

test('what the services measure is known by its name in Prometheus', () => {
  expect([...exported]).toEqual(
    expect.arrayContaining([
      'gateway_refusals_total',
      'gateway_calls_own_duration_bucket',
      'ledger_check_findings',
      'ledger_executions_open',
      'ledger_node_items_waiting',
      'worker_queue_oldest',
      'worker_node_duration_bucket',
      'console_requests_duration_count',
    ]),
  )
})

test.each(queries)('%s asks for what is there', (_where, expr) => {
  const { valid, metrics, labels } = readQuery(expr)
  expect(valid).toBe(true)
  expect(metrics.length).toBeGreaterThan(0)
  for (const metric of metrics) expect([...exported]).toContain(metric)
  for (const { label, value } of labels) {
    if (label === 'code') expect(Object.keys(refusals)).toContain(value)
    if (label === 'job') expect(services).toContain(value)
  }
})

describe('each alert', () => {
  // A section is a heading, and what follows up to the next one of its height or above.
  const sections = new Map(
    read('docs/operating.md')
      .split(/^(?=#{2,3} )/m)
      .map((section) => [/^#+ (.+)$/m.exec(section)?.[1] ?? '', section]),
  )

  test.each(alerts)('$alert says what to look at and what to do', ({ alert, labels, annotations }) => {
    const section = sections.get(alert) ?? ''
    expect(section).toMatch(/\*\*Look:\*\* \S/)
    expect(section).toMatch(/\*\*Do:\*\* \S/)
    expect(['page', 'ticket']).toContain(labels.severity)
    expect(annotations.summary).not.toBe('')
  })

  test.each(
    alerts.flatMap(({ alert, expr, annotations }) =>
      [...annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => [alert, label, expr] as const),
    ),
  )('%s has a label %s for its summary in each of its parts', (_alert, label, expr) => {
    for (const part of expr.split(' or ')) {
      const isMade = part.includes(`"${label}"`) || new RegExp(`by \\([^)]*\\b${label}\\b`).test(part)
      expect([part, isMade || !/absent\(|sum|min|max/.test(part)]).toEqual([part, true])
    }
  })

  test('of services that are away names each', () => {
    const { expr } = alerts.find(({ alert }) => alert === 'ServiceAway')!
    expect(expr.match(/(?<=", ")\w+(?=", "")/g)?.toSorted()).toEqual([...services].toSorted())
  })

  test('about failing providers counts open circuits, and the one about the service neither them nor executions', () => {
    const circuit = { code: 'unavailable', cause: 'circuit' }
    const counts = (name: string, refusal: Record<string, string>) => {
      const { expr } = alerts.find(({ alert }) => alert === name)!
      return [...expr.matchAll(/rate\(gateway_refusals_total\{(.+?)\}/g)].map(([, selector = '']) =>
        [...selector.matchAll(/(\w+)(=~|!~|!=|=)"(.*?)"/g)].every(
          ([, label = '', operator = '', value]) =>
            new RegExp(`^(${value})$`).test(refusal[label] ?? '') !== operator.startsWith('!'),
        ),
      )
    }
    expect(counts('CallsFailInside', { code: 'unavailable' })).toEqual([true])
    expect(counts('CallsFailInside', circuit)).toEqual([false])
    expect(counts('CallsFailInside', { code: 'unavailable', cause: 'execution' })).toEqual([false])
    for (const refusal of [circuit, { code: 'provider_failed' }])
      expect(counts('ProvidersFail', refusal).filter(Boolean)).toHaveLength(2) // in its share, and in its minimum
    expect(counts('ProvidersFail', { code: 'unavailable' })).not.toContain(true)
  })

  // increase() does not see the value with which a series begins.
  test.each(
    alerts.flatMap(({ alert, expr }) =>
      [...expr.matchAll(/sum(?: by \(\w+\) )?\(increase\((\w+)(?:\{(.+?)\})?\[/g)]
        .filter(([, counter = '']) => !expr.includes(`${counter} unless ${counter} offset`)) // which does
        .map(([, counter, labels = '']) => [alert, counter, labels]),
    ),
  )('%s fires for the first event: %s{%s} starts at 0', (_alert, counter, labels) => {
    expect(atStart).toMatch(new RegExp(`^${counter}\\{${labels}.*\\} 0$`, 'm'))
  })

  // A comparison with a rate that is not there is never true.
  test.each(
    alerts.flatMap(({ alert, expr }) =>
      [...expr.matchAll(/rate\((\w+)[^<>]*> [\d.]+ \* (.+?)(?: and |$)/g)].map(([, metric, share]) => [
        alert,
        share,
        metric,
      ]),
    ),
  )('%s fires if nothing has counted for %s yet', (_alert, share, metric) => {
    const isSame = new RegExp(`rate\\(${metric}\\[`).test(share!)
    expect([share, isSame || share!.endsWith(' or vector(0))')]).toEqual([share, true])
  })

  test('is there once, and so is every section about one', () => {
    const names = alerts.map(({ alert }) => alert)
    expect(new Set(names).size).toBe(names.length)
    const described = [...sections].filter(([, section]) => section.includes('**Look:**')).map(([name]) => name)
    expect(described.toSorted()).toEqual(names.toSorted())
  })
})

// Of a Deployment, kubectl reads one pod, and by a selector the last ten lines of each.
test('each documented command for logs reads all lines of all replicas', () => {
  const pages = [...readdirSync(path.join(projectFolder, 'docs')), '../deploy/kubernetes/README.md']
  const commands = pages
    .filter((page) => page.endsWith('.md'))
    .flatMap((page) => read(`docs/${page}`).match(/kubectl[^`|\n]* logs [^`|\n]*/g) ?? [])
  expect(commands.filter((command) => / deploy(ment)?s?\//.test(command))).toEqual([])
  const bySelector = commands.filter((command) => /(--selector|-l)\b/.test(command))
  expect(bySelector).toHaveLength(1)
  for (const command of bySelector) expect(command).toContain('--tail=-1')
})

test('Prometheus asks every service', () => {
  const { scrape_configs: jobs } = parse(read('deploy/observability/prometheus.yaml')) as {
    scrape_configs: { job_name: string; dns_sd_configs: { names: string[]; port: number }[] }[]
  }
  expect(jobs.map(({ job_name }) => job_name).toSorted()).toEqual([...services].toSorted())
  const [, port] = /METRICS_PORT=(\d+)/.exec(read('deploy/Dockerfile'))!
  for (const { job_name, dns_sd_configs } of jobs)
    expect(dns_sd_configs).toMatchObject([{ names: [job_name], port: Number(port) }])
})
