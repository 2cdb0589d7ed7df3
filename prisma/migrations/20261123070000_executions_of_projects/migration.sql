-- The executions of a project are read by time, whichever of its flows they are of (services/console/src/executions/find-executions.ts).
CREATE INDEX ON money.executions (project, created_at);
