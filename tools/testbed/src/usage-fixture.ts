import type { QueryResult } from 'pg'

export interface UsageOptions {
  at: Date
  calls?: number
  /** Prompt tokens, and as many completion tokens. */
  tokens?: number
  micro?: number
  model?: string
  key?: string
  sandbox?: string
}

/** Adds calls to the hour and the day of a project's usage, in every dimension, as the ledger's roll-up does. The largest charge is all of it. */
export function usageFixture({ run }: { run: (sql: string, values?: unknown[]) => Promise<QueryResult> }) {
  return async (project: string, options: UsageOptions): Promise<void> => {
    const { at, calls = 1, tokens = 1, micro = 1, model = 'acme/m', key = '', sandbox = '' } = options
    for (const unit of ['hour', 'day'])
      await run(
        `INSERT INTO money.usage_${unit}s AS u (project, dimension, name, ${unit}, calls, prompt_tokens, completion_tokens, micro,
                                         ${unit === 'hour' ? 'max_micro, ' : ''}durations, first_tokens)
         SELECT $1, dimension, name, date_trunc('${unit}', $2::timestamptz, 'UTC'), $3, $4, $4, $5, ${unit === 'hour' ? '$5, ' : ''}'', ''
           FROM (VALUES ('all', ''), ('model', $6), ('key', $7), ('user', ''), ('sandbox', $8), ('tag', '')) d (dimension, name)
         ON CONFLICT (project, dimension, name, ${unit}) DO UPDATE SET
           calls = u.calls + excluded.calls,
           prompt_tokens = u.prompt_tokens + excluded.prompt_tokens,
           completion_tokens = u.completion_tokens + excluded.completion_tokens,
           micro = u.micro + excluded.micro${unit === 'hour' ? ', max_micro = greatest(u.max_micro, excluded.max_micro)' : ''}`,
        [project, at, calls, tokens, micro, model, key, sandbox],
      )
  }
}
