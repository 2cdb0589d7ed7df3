-- An execution that somebody stopped is Cancelled (states §1). What is there fits the new rules, because it fitted the
-- stricter old ones: it is looked through by the next migration, under a lock that holds up nobody.
ALTER TABLE money.executions DROP CONSTRAINT executions_status_check;
ALTER TABLE money.executions DROP CONSTRAINT executions_check1;
ALTER TABLE money.executions DROP CONSTRAINT executions_check2;
ALTER TABLE money.executions
  ADD CONSTRAINT executions_status_known
    CHECK (status IN ('Admitted', 'Running', 'Succeeded', 'Failed', 'Cancelled')) NOT VALID,
  ADD CONSTRAINT executions_ended_at
    CHECK ((status IN ('Succeeded', 'Failed', 'Cancelled')) = (completed_at IS NOT NULL)) NOT VALID,
  ADD CONSTRAINT executions_error_said
    CHECK (status NOT IN ('Failed', 'Cancelled') OR error IS NOT NULL) NOT VALID;
