import { parser } from '@prometheus-io/lezer-promql'

export interface Query {
  /** Metrics that it asks for. */
  metrics: string[]
  /** Values that it asks a label to have; alternatives apart. */
  labels: { label: string; value: string }[]
  /** Whether Prometheus could read it. */
  valid: boolean
}

/** Takes a query apart, by the grammar of Prometheus itself. Variables of Grafana stand for five minutes. */
export function readQuery(expr: string): Query {
  const text = expr.replaceAll(/\$__\w+/g, '5m')
  const query: Query = { metrics: [], labels: [], valid: true }
  let label = ''
  parser.parse(text).iterate({
    enter({ name, type, from, to, node }) {
      const said = text.slice(from, to)
      if (type.isError) query.valid = false
      if (name === 'Identifier' && node.parent?.name === 'VectorSelector') query.metrics.push(said)
      if (name === 'LabelName') label = said
      if (name === 'StringLiteral' && /Matcher/.test(node.parent?.name ?? ''))
        for (const value of said.slice(1, -1).split('|')) query.labels.push({ label, value })
    },
  })
  return query
}
