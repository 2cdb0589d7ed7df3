-- Beside whoever reads and writes.
ALTER TABLE money.executions VALIDATE CONSTRAINT executions_max_micro;
