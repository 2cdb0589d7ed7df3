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

export const dashboards: Dashboard[] = [
  {
    uid: 'calls',
    title: 'Calls',
    panels: [
      { title: 'Chat calls', unit: 'reqps', figures: rate('gateway_calls_duration_count', 'kind') },
      {
        title: 'Refusals',
        unit: 'reqps',
        figures: rate('gateway_refusals_total', 'code'),
        description: 'docs/refusals.md says what each means.',
      },
      { title: 'Whole duration', unit: 's', figures: quantiles('gateway_calls_duration') },
      {
        title: 'Own time',
        unit: 's',
        figures: quantiles('gateway_calls_own_duration'),
        description: 'The whole duration less what the provider took.',
      },
      {
        title: 'Calls under way',
        unit: 'short',
        figures: figure('sum by (instance) (gateway_calls_open)', '{{instance}}'),
      },
      {
        title: 'From the end of a call to its settlement',
        unit: 's',
        figures: quantiles('gateway_settlements_duration'),
      },
      {
        title: 'Until the tokens of a prompt were counted',
        unit: 's',
        figures: quantiles('gateway_prompts_counting_duration'),
      },
      {
        title: 'Prompts that were counted, or had no time to be',
        unit: 'reqps',
        figures: rate('gateway_prompts_counting_duration_count', 'outcome'),
      },
      {
        title: 'Failed attempts at providers',
        unit: 'reqps',
        figures: rate('gateway_provider_attempts_failed_total', 'kind'),
      },
      {
        title: 'Open circuit breakers',
        unit: 'short',
        figures: [
          ...figure('max(gateway_provider_circuits_open)', 'open'),
          {
            expr: 'sum by (state) (increase(gateway_provider_circuit_changes_total[$__rate_interval]))',
            legend: 'became {{state}}',
          },
        ],
        description: 'Which one is in the log: "provider circuit changed".',
      },
      {
        title: 'Connections to providers',
        unit: 'short',
        figures: [
          ...figure('sum by (provider) (gateway_provider_connections_used)', '{{provider}}, in use'),
          ...figure('sum by (provider) (gateway_provider_calls_waiting)', '{{provider}}, calls that wait'),
        ],
        description: 'Of all gateways. Calls that wait: docs/operating.md, ProviderConnectionsFull.',
      },
      {
        title: 'Calls that got no connection to a provider',
        unit: 'reqps',
        figures: rate('gateway_provider_waits_refused_total', 'provider, reason'),
      },
      {
        title: 'Usage counted by the gateway',
        unit: 'reqps',
        figures: rate('gateway_provider_usage_replaced_total', 'provider, reason'),
        description:
          'Calls whose provider reported no usage, or one that cannot be true: docs/providers.md, section 5.',
      },
      {
        title: 'Invocations of sandbox products',
        unit: 'reqps',
        figures: rate('gateway_invocations_duration_count', 'kind'),
        description: 'By what they are answered with.',
      },
      { title: 'Duration of an invocation', unit: 's', figures: quantiles('gateway_invocations_duration') },
      {
        title: 'Assets that callers are reading',
        unit: 'short',
        figures: ['gateway', 'console'].flatMap((service) =>
          figure(`sum by (instance) (${service}_assets_reads_open)`, `${service} {{instance}}`),
        ),
      },
      {
        title: 'Bytes on their way into the asset store',
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
        title: 'Console requests refused for a limit',
        unit: 'reqps',
        figures: rate('console_requests_overloaded_total', 'limit'),
        description: 'docs/operating.md, Overloaded, says which limit each is.',
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
        title: 'What does not add up',
        unit: 'short',
        figures: [
          ...figure('max(ledger_check_findings)', 'findings'),
          ...figure('max(ledger_recheck_findings)', 'in older parts'),
        ],
        description: '0 is right. Anything else: docs/operating.md, BooksDoNotAddUp.',
      },
      { title: 'Since the last check', unit: 's', figures: figure('min(ledger_check_age)', 'age') },
      { title: 'Wallets checked', unit: 'short', figures: figure('max(ledger_check_wallets)', 'wallets') },
      { title: 'Open reservations', unit: 'short', figures: figure('max(ledger_reservations_open)', 'open') },
      { title: 'Oldest reservation', unit: 's', figures: figure('max(ledger_reservations_oldest)', 'age') },
      { title: 'Reservations closed', unit: 'ops', figures: rate('gateway_reservations_closed_total', 'outcome') },
      { title: 'Items in a batch', unit: 'short', figures: quantiles('ledger_batch_items') },
      {
        title: 'Items a second',
        unit: 'ops',
        figures: figure('sum(rate(ledger_batch_items_sum[$__rate_interval]))', 'items'),
      },
      { title: 'Round trip of a batch', unit: 's', figures: quantiles('ledger_batch_duration') },
      {
        title: 'Items that wait',
        unit: 'short',
        figures: figure('sum by (instance) (ledger_items_waiting)', '{{instance}}'),
      },
      {
        title: 'Oldest transaction of the database',
        unit: 's',
        figures: figure('max(ledger_transactions_oldest)', 'age'),
        description: 'While one is open, wallets that change often get slower: docs/operating.md, TransactionTooOld.',
      },
      { title: 'Usage not rolled up yet', unit: 'short', figures: figure('max(ledger_usage_behind)', 'entries') },
      {
        title: 'Written off',
        unit: 'short',
        figures: [
          ...figure('sum(increase(ledger_write_offs_excess_total[$__rate_interval]))', 'excess, micro-USD'),
          ...figure(
            'sum(increase(ledger_write_offs_fenced_total[$__rate_interval]))',
            'answers after their reservation',
          ),
          ...figure('sum(increase(ledger_items_quarantined_total[$__rate_interval]))', 'items quarantined'),
        ],
      },
    ],
  },
  {
    uid: 'nodes',
    title: 'Nodes',
    panels: [
      { title: 'Nodes that wait', unit: 'short', figures: figure('max(worker_queue_waiting)', 'waiting') },
      { title: 'Oldest that waits', unit: 's', figures: figure('max(worker_queue_oldest)', 'age') },
      {
        title: 'Executions that have not ended',
        unit: 'short',
        figures: figure('max(ledger_executions_open)', 'executions'),
      },
      {
        title: 'Nodes under way',
        unit: 'short',
        figures: [
          ...figure('max(ledger_nodes_running)', 'in the books'),
          ...figure('sum by (instance) (worker_jobs_running)', '{{instance}}'),
        ],
        description: 'What the books have and no worker runs is taken back within seconds.',
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
      { title: 'Duration of a node, p95', unit: 's', figures: p95('worker_node_duration', 'kind') },
      { title: 'Of it at providers, p95', unit: 's', figures: p95('worker_node_provider_duration', 'kind') },
      {
        title: 'Failed attempts at providers',
        unit: 'ops',
        figures: rate('worker_provider_attempts_failed_total', 'kind'),
      },
      {
        title: 'Calls that waited for money',
        unit: 'ops',
        figures: rate('worker_funds_wait_count', 'outcome'),
        description: 'Other calls of the project had reserved it. Refused: not even half a minute helped.',
      },
      { title: 'Wait for money', unit: 's', figures: quantiles('worker_funds_wait') },
      {
        title: 'Jobs',
        unit: 'ops',
        figures: [
          ...rate('worker_jobs_ended_total', 'outcome'),
          ...figure('sum(rate(worker_jobs_nothing_to_do_total[$__rate_interval]))', 'nothing to do'),
        ],
        description: 'Nothing to do: its node had ended, or ran elsewhere. A few are right after a restart.',
      },
      {
        title: 'Nodes requeued',
        unit: 'short',
        figures: [
          ...figure('sum(increase(ledger_nodes_enqueue_failed_total[$__rate_interval]))', 'not taken by the queue'),
          ...figure('sum(increase(ledger_nodes_reclaimed_total[$__rate_interval]))', 'taken back from workers'),
        ],
      },
      { title: 'Items about nodes in a batch', unit: 'short', figures: quantiles('ledger_node_batch_items') },
      { title: 'Duration of such a batch', unit: 's', figures: quantiles('ledger_node_batch_duration') },
      {
        title: 'Items about nodes that wait',
        unit: 'short',
        figures: figure('sum by (instance) (ledger_node_items_waiting)', '{{instance}}'),
      },
      { title: 'Workers', unit: 'short', figures: figure('sum(up{job="worker"})', 'answering') },
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
