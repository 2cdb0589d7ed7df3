/**
 * Returns a URL of the same database. Each session that it opens already has a prepared statement of the name that ours
 * gives the first one, like those that a PgBouncer in transaction mode hands on from another client.
 */
export async function pooledSessions(run: (sql: string) => Promise<unknown>, url: string): Promise<string> {
  await run(`
    CREATE FUNCTION public.prepare_for_another_client() RETURNS event_trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF current_setting('application_name') = 'pooled' THEN EXECUTE 'PREPARE svc1 AS SELECT 1'; END IF;
    END $$`)
  await run('CREATE EVENT TRIGGER pooled ON login EXECUTE FUNCTION public.prepare_for_another_client()')
  const pooled = new URL(url)
  pooled.searchParams.set('application_name', 'pooled')
  return pooled.href
}
