-- Audit entries never change, by any role. Two exceptions, both functions of this folder: an entry gets its place in
-- the chain once (seal_audit), and entries that the chain begins after are deleted (forget_audit).
--
-- needs: money.refuse_change
CREATE OR REPLACE FUNCTION control.keep_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.position IS NULL AND NEW.position IS NOT NULL THEN
    OLD.position := NEW.position;
    OLD.seal := NEW.seal;
    IF NEW IS NOT DISTINCT FROM OLD THEN
      RETURN NEW;
    END IF;
  END IF;
  IF TG_OP = 'DELETE' AND OLD.position <= (SELECT s.position FROM control.audit_start s) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION '%.% is append-only', TG_TABLE_SCHEMA, TG_TABLE_NAME;
END $$;

CREATE OR REPLACE TRIGGER append_only
  BEFORE UPDATE OR DELETE ON control.audit FOR EACH ROW EXECUTE FUNCTION control.keep_audit();
CREATE OR REPLACE TRIGGER no_truncate
  BEFORE TRUNCATE ON control.audit FOR EACH STATEMENT EXECUTE FUNCTION money.refuse_change();
