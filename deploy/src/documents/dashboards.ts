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
  { expr: `sum by (${by}) (rate(${metric}[$__rate_interval]))`, legend: by.replaceAll(/\w+/g, '{{$&}}') },
]
const p95 = (metric: string, by: string): Figure[] => [
  {
    expr: `histogram_quantile(0.95, sum by (le, ${by}) (rate(${metric}_bucket[$__rate_interval])))`,
    legend: `{{${by}}}`,
  },
]
const figure = (expr: string, legend: string): Figure[] => [{ expr, legend }]
const panel = (title: string, unit: Panel['unit'], figures: Figure[], description?: string): Panel => ({
  title,
  unit,
  figures,
  ...(description && { description }),
})
const circuits = (service: 'gateway' | 'worker'): Panel =>
  panel(
    'Open circuit breakers',
    'short',
    [
      ...figure(`sum by (provider) (${service}_provider_circuits_open)`, '{{provider}}'),
      ...figure(
        `sum by (provider, state) (increase(${service}_provider_circuit_changes_total[$__rate_interval]))`,
        '{{provider}} became {{state}}',
      ),
    ],
    'Processes with the circuit breaker of a provider open: docs/operating.md, ProviderCircuitOpen.',
  )

export const dashboards: Dashboard[] = [
  {
    uid: 'calls',
    title: 'Calls',
    panels: [
      panel('Chat calls', 'reqps', rate('gateway_calls_duration_count', 'kind')),
      panel(
        'Refusals',
        'reqps',
        figure('sum by (code, cause) (rate(gateway_refusals_total[$__rate_interval]))', '{{code}} {{cause}}'),
        'docs/refusals.md explains each code. Cause circuit: the providers of the product are being skipped. Cause execution: the execution of a flow failed.',
      ),
      panel('Total duration', 's', quantiles('gateway_calls_duration')),
      panel(
        'Own time',
        's',
        quantiles('gateway_calls_own_duration'),
        'Total duration without the time of the provider.',
      ),
      panel('Calls in progress', 'short', figure('sum by (instance) (gateway_calls_open)', '{{instance}}')),
      panel(
        'Connections ended before their request was read',
        'reqps',
        ['gateway', 'console'].flatMap((service) => rate(`${service}_connections_ended_total`, 'reason')),
        'docs/limits.md, section 1, explains each limit.',
      ),
      panel(
        'Memory for images, files and vectors of running calls',
        'bytes',
        [
          ...figure('sum by (instance) (gateway_images_memory)', 'images and files, {{instance}}'),
          ...figure('sum by (instance) (gateway_embeddings_memory)', 'vectors, {{instance}}'),
        ],
        'MAX_CONCURRENT_IMAGE_BYTES limits each.',
      ),
      panel('Duration from the end of a call to its settlement', 's', quantiles('gateway_settlements_duration')),
      panel('Duration of counting the tokens of a prompt', 's', quantiles('gateway_prompts_counting_duration')),
      panel('Prompt token counts, by outcome', 'reqps', rate('gateway_prompts_counting_duration_count', 'outcome')),
      panel('Failed attempts at providers', 'reqps', rate('gateway_provider_attempts_failed_total', 'kind')),
      circuits('gateway'),
      panel(
        'Connections to providers',
        'short',
        [
          ...figure('sum by (provider) (gateway_provider_connections_used)', '{{provider}}, in use'),
          ...figure('sum by (provider) (gateway_provider_calls_waiting)', '{{provider}}, calls waiting'),
        ],
        'Of all gateways. If calls wait: docs/operating.md, ProviderConnectionsFull.',
      ),
      panel(
        'Calls refused for lack of a connection to a provider',
        'reqps',
        rate('gateway_provider_waits_refused_total', 'provider, reason'),
      ),
      panel(
        'Usage replaced by the gateway',
        'reqps',
        rate('gateway_provider_usage_replaced_total', 'provider, reason'),
        'Calls whose provider reported no usage or implausible usage: docs/providers.md, section 5.',
      ),
      panel(
        'Invocations of sandbox products',
        'reqps',
        rate('gateway_invocations_duration_count', 'kind'),
        'By kind of response.',
      ),
      panel('Duration of an invocation', 's', quantiles('gateway_invocations_duration')),
      panel(
        'Assets being read by callers',
        'short',
        ['gateway', 'console'].flatMap((service) =>
          figure(`sum by (instance) (${service}_assets_reads_open)`, `${service} {{instance}}`),
        ),
      ),
      panel(
        'Bytes of assets being stored',
        'bytes',
        ['gateway', 'worker', 'console'].flatMap((service) =>
          figure(`sum by (instance) (${service}_assets_transit)`, `${service} {{instance}}`),
        ),
        'Reserved in the temporary folder. MAX_CONCURRENT_ASSET_BYTES limits them.',
      ),
      panel(
        'Refused reads and uploads of assets',
        'reqps',
        ['gateway', 'console'].flatMap((service) => rate(`${service}_assets_refused_total`, 'limit')),
      ),
      panel('Console requests', 'reqps', rate('console_requests_duration_count', 'status')),
      panel('Console duration', 's', quantiles('console_requests_duration')),
      panel(
        'Console requests refused by a limit',
        'reqps',
        rate('console_requests_overloaded_total', 'limit'),
        'docs/operating.md, Overloaded, explains each limit.',
      ),
      panel('Permits of the console', 'short', figure('sum by (kind) (console_requests_permits)', '{{kind}}')),
      panel('Followers and console requests of the gateways', 'short', [
        ...figure('sum(gateway_followers)', 'followers'),
        ...figure('sum by (kind) (gateway_console_requests)', 'console, {{kind}}'),
      ]),
    ],
  },
  {
    uid: 'money',
    title: 'Money',
    panels: [
      panel(
        'Findings of the books check',
        'short',
        [
          ...figure('max(ledger_check_findings)', 'findings'),
          ...figure('max(ledger_recheck_findings)', 'in older parts'),
        ],
        'Should be 0. Otherwise: docs/operating.md, BooksDoNotAddUp.',
      ),
      panel('Time since the last check', 's', [
        ...figure('min(ledger_check_age)', 'age'),
        ...figure('min(ledger_recheck_age)', 'of older parts'),
      ]),
      panel('Wallets checked', 'short', figure('max(ledger_check_wallets)', 'wallets')),
      panel('Open reservations', 'short', figure('max(ledger_reservations_open)', 'open')),
      panel('Oldest reservation', 's', figure('max(ledger_reservations_oldest)', 'age')),
      panel('Reservations closed', 'ops', rate('gateway_reservations_closed_total', 'outcome')),
      panel('Items per batch', 'short', quantiles('ledger_batch_items')),
      panel('Items per second', 'ops', figure('sum(rate(ledger_batch_items_sum[$__rate_interval]))', 'items')),
      panel('Round trip of a batch', 's', quantiles('ledger_batch_duration')),
      panel('Items waiting', 'short', figure('sum by (instance) (ledger_items_waiting)', '{{instance}}')),
      panel(
        'Oldest transaction of the database',
        's',
        figure('max(ledger_transactions_oldest)', 'age'),
        'While it is open, busy wallets get slower: docs/operating.md, TransactionTooOld.',
      ),
      panel('Usage not rolled up yet', 'short', figure('max(ledger_usage_behind)', 'entries')),
      panel('Write-offs', 'short', [
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
      ]),
    ],
  },
  {
    uid: 'nodes',
    title: 'Nodes',
    panels: [
      panel('Nodes waiting', 'short', figure('max(worker_queue_waiting)', 'waiting')),
      panel('Longest wait of a node', 's', figure('max(worker_queue_oldest)', 'age')),
      panel('Open executions', 'short', figure('max(ledger_executions_open)', 'executions')),
      panel(
        'Nodes in progress',
        'short',
        [
          ...figure('max(ledger_nodes_running)', 'in the books'),
          ...figure('sum by (instance) (worker_jobs_running)', '{{instance}}'),
        ],
        'Nodes in the books that no worker runs are reclaimed within seconds.',
      ),
      panel('Nodes ended', 'ops', [
        {
          expr: 'sum by (kind, outcome) (rate(worker_nodes_ended_total[$__rate_interval]))',
          legend: '{{kind}} {{outcome}}',
        },
      ]),
      panel('Failed nodes', 'ops', rate('worker_refusals_total', 'code')),
      panel('Duration of a node, p95', 's', p95('worker_node_duration', 'kind')),
      panel('Time of a node at providers, p95', 's', p95('worker_node_provider_duration', 'kind')),
      panel('Failed attempts at providers', 'ops', rate('worker_provider_attempts_failed_total', 'kind')),
      circuits('worker'),
      panel(
        'Calls that waited for funds',
        'ops',
        rate('worker_funds_wait_count', 'outcome'),
        'Other calls of the project had reserved them. Refused: none were free within half a minute.',
      ),
      panel('Wait for funds', 's', quantiles('worker_funds_wait')),
      panel(
        'Jobs',
        'ops',
        [
          ...rate('worker_jobs_ended_total', 'outcome'),
          ...figure('sum(rate(worker_jobs_nothing_to_do_total[$__rate_interval]))', 'nothing to do'),
        ],
        'Nothing to do: the node had ended or was running elsewhere. A few are expected after a restart.',
      ),
      panel('Nodes requeued', 'short', [
        ...figure('sum(increase(ledger_nodes_enqueue_failed_total[$__rate_interval]))', 'could not be enqueued'),
        ...figure('sum(increase(ledger_nodes_reclaimed_total[$__rate_interval]))', 'reclaimed from workers'),
      ]),
      panel('Node items per batch', 'short', quantiles('ledger_node_batch_items')),
      panel('Duration of a node batch', 's', quantiles('ledger_node_batch_duration')),
      panel('Node items waiting', 'short', figure('sum by (instance) (ledger_node_items_waiting)', '{{instance}}')),
      panel('Workers', 'short', figure('sum(up{job="worker"})', 'up')),
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
