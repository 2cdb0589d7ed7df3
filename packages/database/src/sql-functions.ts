// The functions of prisma/functions that services call with `callFunction`: their arguments and what they answer, by name
// and by type as Postgres writes it. A test compares all of it with the catalogue of a migrated database.

/** What is given for an argument. A list of bytes has no null: the driver takes the type of a list from its first item. */
interface TakenTypes {
  boolean: boolean
  integer: number
  bigint: number | bigint
  text: string
  /** JSON text. */
  jsonb: string
  'boolean[]': readonly (boolean | null)[]
  'integer[]': readonly (number | null)[]
  'bigint[]': readonly (bigint | null)[]
  'text[]': readonly (string | null)[]
  'bytea[]': readonly Uint8Array[]
}

interface AnsweredTypes {
  boolean: boolean
  integer: number
  bigint: bigint
  text: string
  bytea: Uint8Array
  'integer[]': number[]
  'text[]': string[]
  'bytea[]': Uint8Array[]
}

interface SqlFunction {
  takes: Record<string, keyof TakenTypes | `${keyof TakenTypes} | null`>
  answers: Record<string, keyof AnsweredTypes | `${keyof AnsweredTypes} | null`>
}

export const sqlFunctions = {
  'money.run_batch': {
    takes: {
      wait_for_locks: 'boolean',
      p_hash: 'text[]',
      p_model: 'text[]',
      e_execution: 'text[]',
      e_model: 'text[]',
      a_id: 'text[]',
      a_pair: 'integer[]',
      a_instance: 'text[]',
      a_selector: 'text[]',
      a_parameters: 'text[]',
      a_bytes: 'integer[]',
      a_messages: 'integer[]',
      a_tools: 'integer[]',
      a_images: 'integer[]',
      a_counted: 'integer[]',
      a_max_tokens: 'integer[]',
      a_key: 'text[]',
      a_fingerprint: 'text[]',
      a_node: 'text[]',
      a_lease: 'text[]',
      c_id: 'text[]',
      c_kind: 'text[]',
      c_usage: 'jsonb',
      c_reason: 'text[]',
      c_content_type: 'text[]',
      c_body: 'bytea[]',
    },
    answers: {
      admissions: 'text | null',
      closings: 'text | null',
      products: 'text | null',
      at_ms: 'bigint',
    },
  },
  'money.check_admission': {
    takes: {
      key_hash: 'text',
      selector: 'text | null',
      model: 'text',
      parameters: 'text',
      bytes: 'integer',
      messages: 'integer',
      tools: 'integer',
      images: 'integer',
      counted: 'integer | null',
      max_tokens: 'integer | null',
    },
    answers: {
      decision: 'text',
    },
  },
  'money.fund': {
    takes: {
      to_project: 'text',
      funding: 'text',
      amount_micro: 'bigint',
      by_person: 'text',
    },
    answers: {
      fresh: 'boolean',
      recorded: 'bigint',
    },
  },
  'money.correct': {
    takes: {
      of_project: 'text',
      correction: 'text',
      amount_micro: 'bigint',
      why: 'text',
      by_person: 'text',
    },
    answers: {
      outcome: 'text',
      recorded: 'bigint | null',
      recorded_reason: 'text | null',
      available: 'bigint',
      reserved: 'bigint',
    },
  },
  'money.record_refusals': {
    takes: {
      of_sender: 'text',
      number: 'integer',
      c_hash: 'text[]',
      c_code: 'text[]',
      c_count: 'integer[]',
      l_hash: 'text[]',
      l_code: 'text[]',
      l_model: 'text[]',
      l_request: 'text[]',
      l_ago_ms: 'integer[]',
    },
    answers: {
      fresh: 'boolean',
    },
  },
  'money.set_notice_thresholds': {
    takes: {
      of_project: 'text',
      below: 'text[]',
      percents: 'integer[]',
      days_left: 'integer | null',
    },
    answers: {},
  },
  'money.notify_days_left': {
    takes: {},
    answers: {
      notices: 'integer',
    },
  },
  'money.roll_up_usage': {
    takes: {
      projects: 'text[]',
      max_entries: 'integer',
    },
    answers: {
      entries: 'integer | null',
    },
  },
  'money.take_anchor': {
    takes: {},
    answers: {
      anchor: 'bigint | null',
      wallets: 'integer | null',
      root: 'text | null',
    },
  },
  'money.oldest_transaction': {
    takes: {},
    answers: {
      oldest_ms: 'bigint | null',
      snapshot_age: 'bigint | null',
    },
  },
  'money.read_estimate': {
    takes: {
      of_products: 'text[]',
      of_sandbox: 'text',
      of_digest: 'text',
    },
    answers: {
      products: 'text',
      last: 'text',
    },
  },
  'money.read_executions': {
    takes: {
      ids: 'text[]',
      instances: 'text[]',
      c_execution: 'text[]',
      c_node: 'text[]',
    },
    answers: {
      at_ms: 'bigint',
      executions: 'text | null',
      live_instances: 'text[] | null',
      s_claim: 'integer[] | null',
      s_ordinal: 'integer[] | null',
      s_output: 'bytea[] | null',
    },
  },
  'money.read_record': {
    takes: {
      wanted: 'text',
      after: 'integer | null',
    },
    answers: {
      execution: 'text | null',
      output: 'bytea | null',
      error: 'bytea | null',
      nodes: 'text | null',
      n_output: 'bytea[] | null',
      n_error: 'bytea[] | null',
      n_call: 'text[] | null',
      n_charged: 'text[] | null',
    },
  },
  'money.write_executions': {
    takes: {
      wait_for_locks: 'boolean',
      nodes_at_once: 'integer',
      instances: 'text[]',
      e_id: 'text[]',
      e_project: 'text[]',
      e_version: 'integer[]',
      e_next_version: 'integer[]',
      e_status: 'text[]',
      e_seq: 'integer[]',
      e_error: 'bytea[]',
      e_output: 'bytea[]',
      e_started: 'boolean[]',
      e_deadline_ms: 'integer[]',
      e_enqueues: 'boolean[]',
      n_execution: 'integer[]',
      n_ordinal: 'integer[]',
      n_state: 'text[]',
      n_attempt: 'integer[]',
      n_deaths: 'integer[]',
      n_seq: 'integer[]',
      n_ports: 'text[]',
      n_output: 'bytea[]',
      n_error: 'bytea[]',
      n_instance: 'text[]',
      n_lease: 'text[]',
      n_call: 'text[]',
      n_reservation: 'text[]',
      n_duration_ms: 'integer[]',
      n_remote_ms: 'integer[]',
      c_execution: 'integer[]',
      c_id: 'text[]',
      c_kind: 'text[]',
      c_usage: 'jsonb',
      c_reason: 'text[]',
    },
    answers: {
      written: 'integer[] | null',
      closed: 'integer[] | null',
      closings: 'text | null',
      jobs: 'text | null',
    },
  },
  'money.lock_executions': {
    takes: {
      ids: 'text[]',
    },
    answers: {
      locked: 'integer',
    },
  },
  'money.requeue_lost_nodes': {
    takes: {
      nodes_at_once: 'integer',
      late_ms: 'integer',
      max_late: 'integer',
    },
    answers: {
      jobs: 'text',
    },
  },
  'money.read_starts': {
    takes: {
      i_id: 'text[]',
      i_hash: 'text[]',
      i_project: 'text[]',
      i_sandbox: 'text[]',
      i_revision: 'integer[]',
      i_scope: 'text[]',
      i_key: 'text[]',
      max_open: 'integer',
    },
    answers: {
      facts: 'text',
    },
  },
  'money.write_starts': {
    takes: {
      nodes_at_once: 'integer',
      e_id: 'text[]',
      e_project: 'text[]',
      e_sandbox: 'text[]',
      e_revision: 'integer[]',
      e_digest: 'text[]',
      e_key: 'text[]',
      e_lineage: 'text[]',
      e_person: 'text[]',
      e_surface: 'text[]',
      e_traceparent: 'text[]',
      e_tracestate: 'text[]',
      e_idempotency_key: 'text[]',
      e_fingerprint: 'text[]',
      e_first_claim_ms: 'integer[]',
      e_max_micro: 'bigint[]',
      n_execution: 'integer[]',
      n_ordinal: 'integer[]',
      n_node: 'text[]',
      n_kind: 'text[]',
      n_sources: 'text[]',
      n_state: 'text[]',
      n_seq: 'integer[]',
      n_ports: 'text[]',
      n_output: 'bytea[]',
    },
    answers: {
      started: 'integer[] | null',
      jobs: 'text | null',
    },
  },
  'money.write_rerun': {
    takes: {
      nodes_at_once: 'integer',
      e_id: 'text',
      e_earlier: 'text',
      e_project: 'text',
      e_sandbox: 'text',
      e_revision: 'integer',
      e_digest: 'text | null',
      e_person: 'text',
      e_max_micro: 'bigint | null',
      e_status: 'text',
      e_seq: 'integer',
      e_output: 'integer | null',
      e_traceparent: 'text | null',
      e_tracestate: 'text | null',
      e_scope: 'text',
      e_idempotency_key: 'text | null',
      e_fingerprint: 'text | null',
      e_first_claim_ms: 'integer',
      n_ordinal: 'integer[]',
      n_node: 'text[]',
      n_kind: 'text[]',
      n_sources: 'text[]',
      n_state: 'text[]',
      n_seq: 'integer[]',
      n_earlier: 'integer[]',
      n_taken_over: 'boolean[]',
    },
    answers: {
      started: 'boolean',
      jobs: 'text | null',
    },
  },
  'money.write_off_fenced': {
    takes: {
      w_reservation: 'text[]',
      w_execution: 'text[]',
      w_usage: 'jsonb',
    },
    answers: {
      written: 'integer',
    },
  },
  'money.monitor_instances': {
    takes: {
      by_monitor: 'text',
    },
    answers: {
      ended: 'integer',
      counted_anew: 'integer',
      taken_over: 'integer',
    },
  },
  'money.make_partition': {
    takes: {
      of_table: 'text',
      days_ahead: 'integer',
    },
    answers: {
      made: 'text | null',
    },
  },
  'money.drop_archived': {
    takes: {
      of_table: 'text',
      of_month: 'text',
    },
    answers: {
      done: 'text | null',
    },
  },
  'money.drop_partition': {
    takes: {
      of_table: 'text',
      days_kept: 'integer',
    },
    answers: {
      dropped: 'text | null',
    },
  },
} as const satisfies Record<string, SqlFunction>

export type SqlFunctionName = keyof typeof sqlFunctions

/** All arguments of a function, by name. */
export type ArgumentsOf<Name extends SqlFunctionName> = {
  [A in keyof (typeof sqlFunctions)[Name]['takes']]: Taken<(typeof sqlFunctions)[Name]['takes'][A]>
}

/** The one row that a function answers. */
export type AnswerOf<Name extends SqlFunctionName> = {
  [A in keyof (typeof sqlFunctions)[Name]['answers']]: Answered<(typeof sqlFunctions)[Name]['answers'][A]>
}

type Taken<T> = T extends `${infer Type} | null`
  ? Taken<Type> | null
  : T extends keyof TakenTypes
    ? TakenTypes[T]
    : never
type Answered<T> = T extends `${infer Type} | null`
  ? Answered<Type> | null
  : T extends keyof AnsweredTypes
    ? AnsweredTypes[T]
    : never
