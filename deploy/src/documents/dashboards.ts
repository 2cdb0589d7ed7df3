// The dashboards as rows: what a panel is called, in which unit, and which figures it shows. Grafana's own form of them, which
// is long, is made of these.

interface Figure {
  expr: string
  /** How a line is called; labels in double braces. */
  legend: string
}

interface Panel {
  title: string
  /** One of Grafana's units. */
  unit: 'reqps' | 's' | 'short' | 'percentunit' | 'ops' | 'bytes'
  figures: Figure[]
  /** Said alongside the title: how to read it. */
  description?: string
}

export interface Dashboard {
  uid: string
  title: string
  panels: Panel[]
}

const quantiles = (metric: string): Figure[] =>
  ['0.5', '0.95', '0.99'].map((q) => ({
    expr: `histogram_quantile(${q}, sum by (le) (rate(${metric}_bucket[$__rate_interval])))`,
    legend: `p${Number(q) * 100}`,
  }))
const rate = (metric: string, by: string): Figure[] => [
  { expr: `sum by (${by}) (rate(${metric}[$__rate_interval]))`, legend: `{{${by}}}` },
]
const p95 = (metric: string, by: string): Figure[] => [
  {
    expr: `histogram_quantile(0.95, sum by (le, ${by}) (rate(${metric}_bucket[$__rate_interval])))`,
    legend: `{{${by}}}`,
  },
]
const figure = (expr: string, legend: string): Figure[] => [{ expr, legend }]
const circuits = (service: 'gateway' | 'worker'): Panel => ({
  title: 'Open circuit breakers',
  unit: 'short',
  figures: [
    ...figure(`sum by (provider) (${service}_provider_circuits_open)`, '{{provider}}'),
    ...figure(
      `sum by (provider, state) (increase(${service}_provider_circuit_changes_total[$__rate_interval]))`,
      '{{provider}} became {{state}}',
    ),
  ],
  description: 'Processes with the circuit breaker of a provider open: docs/operating.md, ProviderCircuitOpen.',
})

export const dashboards: Dashboard[] = [
  {
    uid: 'calls',
    title: 'Calls',
    panels: [
      { title: 'Chat calls', unit: 'reqps', figures: rate('gateway_calls_duration_count', 'kind') },
      {
        title: 'Refusals',
        unit: 'reqps',
        figures: figure('sum by (code, cause) (rate(gateway_refusals_total[$__rate_interval]))', '{{code}} {{cause}}'),
        description:
          'docs/refusals.md explains each code. Cause circuit: the providers of the product are being skipped. Cause execution: the execution of a flow failed.',
      },
      { title: 'Total duration', unit: 's', figures: quantiles('gateway_calls_duration') },
      {
        title: 'Own time',
        unit: 's',
        figures: quantiles('gateway_calls_own_duration'),
        description: 'Total duration without the time of the provider.',
      },
      {
        title: 'Calls in progress',
        unit: 'short',
        figures: figure('sum by (instance) (gateway_calls_open)', '{{instance}}'),
      },
      {
        title: 'Connections ended before their request was read',
        unit: 'reqps',
        figures: ['gateway', 'console'].flatMap((service) => rate(`${service}_connections_ended_total`, 'reason')),
        description: 'docs/limits.md, section 1, explains each limit.',
      },
      {
        title: 'Memory for images, files and vectors of running calls',
        unit: 'bytes',
        figures: [
          ...figure('sum by (instance) (gateway_images_memory)', 'images and files, {{instance}}'),
          ...figure('sum by (instance) (gateway_embeddings_memory)', 'vectors, {{instance}}'),
        ],
        description: 'MAX_CONCURRENT_IMAGE_BYTES limits each.',
      },
      {
        title: 'Duration from the end of a call to its settlement',
        unit: 's',
        figures: quantiles('gateway_settlements_duration'),
      },
      {
        title: 'Duration of counting the tokens of a prompt',
        unit: 's',
        figures: quantiles('gateway_prompts_counting_duration'),
      },
      {
        title: 'Prompt token counts, by outcome',
        unit: 'reqps',
        figures: rate('gateway_prompts_counting_duration_count', 'outcome'),
      },
      {
        title: 'Failed attempts at providers',
        unit: 'reqps',
        figures: rate('gateway_provider_attempts_failed_total', 'kind'),
      },
      circuits('gateway'),
      {
        title: 'Connections to providers',
        unit: 'short',
        figures: [
          ...figure('sum by (provider) (gateway_provider_connections_used)', '{{provider}}, in use'),
          ...figure('sum by (provider) (gateway_provider_calls_waiting)', '{{provider}}, calls waiting'),
        ],
        description: 'Of all gateways. If calls wait: docs/operating.md, ProviderConnectionsFull.',
      },
      {
        title: 'Calls refused for lack of a connection to a provider',
        unit: 'reqps',
        figures: rate('gateway_provider_waits_refused_total', 'provider, reason'),
      },
      {
        title: 'Usage replaced by the gateway',
        unit: 'reqps',
        figures: rate('gateway_provider_usage_replaced_total', 'provider, reason'),
        description: 'Calls whose provider reported no usage or implausible usage: docs/providers.md, section 5.',
      },
      {
        title: 'Invocations of sandbox products',
        unit: 'reqps',
        figures: rate('gateway_invocations_duration_count', 'kind'),
        description: 'By kind of response.',
      },
      { title: 'Duration of an invocation', unit: 's', figures: quantiles('gateway_invocations_duration') },
      {
        title: 'Assets being read by callers',
        unit: 'short',
        figures: ['gateway', 'console'].flatMap((service) =>
          figure(`sum by (instance) (${service}_assets_reads_open)`, `${service} {{instance}}`),
        ),
      },
      {
        title: 'Bytes of assets being stored',
        unit: 'bytes',
        figures: ['gateway', 'worker', 'console'].flatMap((service) =>
          figure(`sum by (instance) (${service}_assets_transit)`, `${service} {{instance}}`),
        ),
        description: 'Reserved in the temporary folder. MAX_CONCURRENT_ASSET_BYTES limits them.',
      },
      {
        title: 'Refused reads and uploads of assets',
        unit: 'reqps',
        figures: ['gateway', 'console'].flatMap((service) => rate(`${service}_assets_refused_total`, 'limit')),
      },
      { title: 'Console requests', unit: 'reqps', figures: rate('console_requests_duration_count', 'status') },
      { title: 'Console duration', unit: 's', figures: quantiles('console_requests_duration') },
      {
        title: 'Console requests refused by a limit',
        unit: 'reqps',
        figures: rate('console_requests_overloaded_total', 'limit'),
        description: 'docs/operating.md, Overloaded, explains each limit.',
      },
      {
        title: 'Permits of the console',
        unit: 'short',
        figures: figure('sum by (kind) (console_requests_permits)', '{{kind}}'),
      },
      {
        title: 'Followers and console requests of the gateways',
        unit: 'short',
        figures: [
          ...figure('sum(gateway_followers)', 'followers'),
          ...figure('sum by (kind) (gateway_console_requests)', 'console, {{kind}}'),
        ],
      },
    ],
  },
  {
    uid: 'money',
    title: 'Money',
    panels: [
      {
        title: 'Findings of the books check',
        unit: 'short',
        figures: [
          ...figure('max(ledger_check_findings)', 'findings'),
          ...figure('max(ledger_recheck_findings)', 'in older parts'),
        ],
        description: 'Should be 0. Otherwise: docs/operating.md, BooksDoNotAddUp.',
      },
      {
        title: 'Time since the last check',
        unit: 's',
        figures: [...figure('min(ledger_check_age)', 'age'), ...figure('min(ledger_recheck_age)', 'of older parts')],
      },
      { title: 'Wallets checked', unit: 'short', figures: figure('max(ledger_check_wallets)', 'wallets') },
      { title: 'Open reservations', unit: 'short', figures: figure('max(ledger_reservations_open)', 'open') },
      { title: 'Oldest reservation', unit: 's', figures: figure('max(ledger_reservations_oldest)', 'age') },
      { title: 'Reservations closed', unit: 'ops', figures: rate('gateway_reservations_closed_total', 'outcome') },
      { title: 'Items per batch', unit: 'short', figures: quantiles('ledger_batch_items') },
      {
        title: 'Items per second',
        unit: 'ops',
        figures: figure('sum(rate(ledger_batch_items_sum[$__rate_interval]))', 'items'),
      },
      { title: 'Round trip of a batch', unit: 's', figures: quantiles('ledger_batch_duration') },
      {
        title: 'Items waiting',
        unit: 'short',
        figures: figure('sum by (instance) (ledger_items_waiting)', '{{instance}}'),
      },
      {
        title: 'Oldest transaction of the database',
        unit: 's',
        figures: figure('max(ledger_transactions_oldest)', 'age'),
        description: 'While it is open, busy wallets get slower: docs/operating.md, TransactionTooOld.',
      },
      { title: 'Usage not rolled up yet', unit: 'short', figures: figure('max(ledger_usage_behind)', 'entries') },
      {
        title: 'Write-offs',
        unit: 'short',
        figures: [
          ...figure(
            'sum by (provider) (increase(ledger_write_offs_excess_total[$__rate_interval]))',
            'excess of {{provider}}, micro-USD',
          ),
          ...figure(
            'sum(increase(ledger_write_offs_fenced_total[$__rate_interval]))',
            'responses after their reservation',
          ),
          ...figure('sum(increase(ledger_items_quarantined_total[$__rate_interval]))', 'items quarantined'),
          ...figure('sum(increase(ledger_reservations_restored_total[$__rate_interval]))', 'reservations restored'),
        ],
      },
    ],
  },
  {
    uid: 'nodes',
    title: 'Nodes',
    panels: [
      { title: 'Nodes waiting', unit: 'short', figures: figure('max(worker_queue_waiting)', 'waiting') },
      { title: 'Longest wait of a node', unit: 's', figures: figure('max(worker_queue_oldest)', 'age') },
      {
        title: 'Open executions',
        unit: 'short',
        figures: figure('max(ledger_executions_open)', 'executions'),
      },
      {
        title: 'Nodes in progress',
        unit: 'short',
        figures: [
          ...figure('max(ledger_nodes_running)', 'in the books'),
          ...figure('sum by (instance) (worker_jobs_running)', '{{instance}}'),
        ],
        description: 'Nodes in the books that no worker runs are reclaimed within seconds.',
      },
      {
        title: 'Nodes ended',
        unit: 'ops',
        figures: [
          {
            expr: 'sum by (kind, outcome) (rate(worker_nodes_ended_total[$__rate_interval]))',
            legend: '{{kind}} {{outcome}}',
          },
        ],
      },
      { title: 'Failed nodes', unit: 'ops', figures: rate('worker_refusals_total', 'code') },
      { title: 'Duration of a node, p95', unit: 's', figures: p95('worker_node_duration', 'kind') },
      { title: 'Time of a node at providers, p95', unit: 's', figures: p95('worker_node_provider_duration', 'kind') },
      {
        title: 'Failed attempts at providers',
        unit: 'ops',
        figures: rate('worker_provider_attempts_failed_total', 'kind'),
      },
      circuits('worker'),
      {
        title: 'Calls that waited for funds',
        unit: 'ops',
        figures: rate('worker_funds_wait_count', 'outcome'),
        description: 'Other calls of the project had reserved them. Refused: none were free within half a minute.',
      },
      { title: 'Wait for funds', unit: 's', figures: quantiles('worker_funds_wait') },
      {
        title: 'Jobs',
        unit: 'ops',
        figures: [
          ...rate('worker_jobs_ended_total', 'outcome'),
          ...figure('sum(rate(worker_jobs_nothing_to_do_total[$__rate_interval]))', 'nothing to do'),
        ],
        description: 'Nothing to do: the node had ended or was running elsewhere. A few are expected after a restart.',
      },
      {
        title: 'Nodes requeued',
        unit: 'short',
        figures: [
          ...figure('sum(increase(ledger_nodes_enqueue_failed_total[$__rate_interval]))', 'could not be enqueued'),
          ...figure('sum(increase(ledger_nodes_reclaimed_total[$__rate_interval]))', 'reclaimed from workers'),
        ],
      },
      { title: 'Node items per batch', unit: 'short', figures: quantiles('ledger_node_batch_items') },
      { title: 'Duration of a node batch', unit: 's', figures: quantiles('ledger_node_batch_duration') },
      {
        title: 'Node items waiting',
        unit: 'short',
        figures: figure('sum by (instance) (ledger_node_items_waiting)', '{{instance}}'),
      },
      { title: 'Workers', unit: 'short', figures: figure('sum(up{job="worker"})', 'up') },
    ],
  },
]

/** A dashboard in the form that Grafana reads. Two panels a line. */
export function grafanaJson({ uid, title, panels }: Dashboard): string {
  const datasource = { type: 'prometheus', uid: 'prometheus' }
  const board = {
    uid,
    title: `Model gateway: ${title}`,
    tags: ['model-gateway'],
    schemaVersion: 41,
    editable: false,
    refresh: '15s',
    time: { from: 'now-1h', to: 'now' },
    panels: panels.map(({ title, unit, figures, description }, at) => ({
      id: at + 1,
      type: 'timeseries',
      title,
      ...(description && { description }),
      datasource,
      gridPos: { x: (at % 2) * 12, y: Math.floor(at / 2) * 8, w: 12, h: 8 },
      fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
      options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
      targets: figures.map(({ expr, legend }, n) => ({
        refId: String.fromCodePoint(65 + n),
        datasource,
        expr,
        legendFormat: legend,
      })),
    })),
  }
  return `${JSON.stringify(board, null, 2)}\n`
}
