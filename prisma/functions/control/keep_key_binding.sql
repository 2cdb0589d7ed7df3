-- A key keeps its binding from creation for life (rules §6.2): only renaming, pausing, revoking and rotating may
-- change the row.
CREATE OR REPLACE FUNCTION control.keep_key_binding() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.project, NEW.lineage, NEW.hash, NEW.tenant, NEW.policy,
      NEW.limit_micro, NEW.limit_reset, NEW.created_by, NEW.expires_at, NEW.rotated_from, NEW.rotated_by,
      NEW.issued_at, NEW.rates, NEW.tag, NEW.made_with)
     IS DISTINCT FROM
     (OLD.project, OLD.lineage, OLD.hash, OLD.tenant, OLD.policy,
      OLD.limit_micro, OLD.limit_reset, OLD.created_by, OLD.expires_at, OLD.rotated_from, OLD.rotated_by,
      OLD.issued_at, OLD.rates, OLD.tag, OLD.made_with)
  THEN RAISE EXCEPTION 'a key keeps its project, lineage, secret, policy, limits, tag, creator and expiry for life';
  END IF;
  IF NEW.id <> OLD.id
     OR OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS NULL
     OR OLD.rotated_to IS NOT NULL AND (
          NEW.rotated_to IS DISTINCT FROM OLD.rotated_to
          OR NEW.grace_until > coalesce(OLD.grace_until, '-infinity'))
  THEN RAISE EXCEPTION 'a revoked or rotated key stays so';
  END IF;
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER keep_key_binding
  BEFORE UPDATE ON control.keys FOR EACH ROW EXECUTE FUNCTION control.keep_key_binding();
