-- Beside whoever reads and writes.
ALTER TABLE money.executions VALIDATE CONSTRAINT executions_status_known;
ALTER TABLE money.executions VALIDATE CONSTRAINT executions_ended_at;
ALTER TABLE money.executions VALIDATE CONSTRAINT executions_error_said;
