import type { Fixture } from '@gateway/testbed/fixture'

/** A year of usage as the ledger stores it, by hour and by day: 24 calls per model and day, by four keys. */
export async function makeYear({ run }: Fixture, project: string, models: string[]): Promise<void> {
  for (const [table, unit, every] of [
    ['usage_hours', 'hour', '1 hour'],
    ['usage_days', 'day', '1 day'],
  ] as const)
    await run(
      `INSERT INTO money.${table} (project, dimension, name, ${unit}, calls, prompt_tokens, completion_tokens, micro, durations, first_tokens)
       SELECT $1, dimension, name, at, sum(calls), sum(100 * calls), sum(50 * calls), sum(7 * calls), '', ''
         FROM generate_series(date_trunc('day', now()) - interval '364 days', date_trunc('day', now()), interval '${every}') at,
              unnest($2::text[]) product, generate_series(1, 4) n, (SELECT ${every === '1 day' ? 24 : 1} AS calls) c,
              LATERAL (VALUES ('all', ''), ('model', product), ('key', 'key_' || n), ('user', ''), ('sandbox', ''), ('tag', '')) d (dimension, name)
        GROUP BY dimension, name, at
       ON CONFLICT DO NOTHING`,
      [project, models],
    )
}
