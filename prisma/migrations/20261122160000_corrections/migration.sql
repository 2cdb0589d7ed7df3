-- Corrections: what came in or was taken wrongly is put right by an entry of its own (money §5.4).

CREATE TABLE money.corrections (
  project       text NOT NULL,
  correction_id text NOT NULL,
  micro         bigint NOT NULL CHECK (micro <> 0 AND abs(micro) <= 9007199254740991),
  reason        text NOT NULL CHECK (char_length(reason) BETWEEN 1 AND 500),
  corrected_by  text NOT NULL,
  at            timestamptz(3) NOT NULL,
  PRIMARY KEY (project, correction_id)
);
GRANT INSERT ON money.corrections TO svc_ledger;

-- The journal has one kind of entry more. Its partitions may have the check as their own.
DO $$
DECLARE
  old record;
BEGIN
  FOR old IN
    SELECT c.conrelid::regclass AS part, c.conname FROM pg_constraint c
     WHERE c.conrelid IN (SELECT 'money.journal'::regclass UNION SELECT relid FROM pg_partition_tree('money.journal'))
       AND c.contype = 'c' AND pg_get_constraintdef(c.oid) ~ '\ykind\y'
     ORDER BY c.conparentid <> 0, c.conrelid <> 'money.journal'::regclass
  LOOP
    IF EXISTS (SELECT FROM pg_constraint WHERE conrelid = old.part AND conname = old.conname) THEN
      EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', old.part, old.conname);
    END IF;
  END LOOP;
END $$;
ALTER TABLE money.journal ADD CONSTRAINT kinds
  CHECK (kind IN ('fund', 'correct', 'reserve', 'settle', 'release'));
