-- What is written once stays as it was written, whoever asks.
CREATE OR REPLACE FUNCTION money.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%.% is append-only', TG_TABLE_SCHEMA, TG_TABLE_NAME;
END $$;

CREATE OR REPLACE TRIGGER append_only
  BEFORE UPDATE OR DELETE ON money.journal FOR EACH STATEMENT EXECUTE FUNCTION money.refuse_change();
CREATE OR REPLACE TRIGGER append_only
  BEFORE UPDATE OR DELETE ON money.journal_blocks FOR EACH STATEMENT EXECUTE FUNCTION money.refuse_change();
CREATE OR REPLACE TRIGGER append_only
  BEFORE UPDATE OR DELETE ON money.attempts FOR EACH STATEMENT EXECUTE FUNCTION money.refuse_change();
CREATE OR REPLACE TRIGGER append_only
  BEFORE UPDATE OR DELETE ON money.fundings FOR EACH STATEMENT EXECUTE FUNCTION money.refuse_change();
CREATE OR REPLACE TRIGGER append_only
  BEFORE UPDATE OR DELETE ON money.corrections FOR EACH STATEMENT EXECUTE FUNCTION money.refuse_change();
CREATE OR REPLACE TRIGGER append_only
  BEFORE UPDATE OR DELETE ON money.anchors FOR EACH STATEMENT EXECUTE FUNCTION money.refuse_change();
CREATE OR REPLACE TRIGGER append_only
  BEFORE UPDATE OR DELETE ON money.anchored_heads FOR EACH STATEMENT EXECUTE FUNCTION money.refuse_change();
CREATE OR REPLACE TRIGGER append_only
  BEFORE UPDATE OR DELETE ON control.audit FOR EACH STATEMENT EXECUTE FUNCTION money.refuse_change();
