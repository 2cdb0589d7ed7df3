-- Refuses changes of append-only rows, by any role, through the table or directly through a partition, which is a
-- separate table.
CREATE OR REPLACE FUNCTION money.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%.% is append-only', TG_TABLE_SCHEMA, TG_TABLE_NAME;
END $$;

DO $$
DECLARE
  append_only CONSTANT regclass[] := ARRAY[
    'money.journal', 'money.journal_blocks', 'money.attempts', 'money.fundings', 'money.corrections',
    'money.anchors', 'money.anchored_heads', 'money.archives'];
  each regclass;
BEGIN
  FOR each IN
    SELECT unnest(append_only) UNION ALL SELECT i.inhrelid FROM pg_inherits i WHERE i.inhparent = ANY (append_only)
  LOOP
    EXECUTE format('CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE ON %s
                      FOR EACH STATEMENT EXECUTE FUNCTION money.refuse_change()', each);
  END LOOP;
END $$;
