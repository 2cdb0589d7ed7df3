-- An execution may take over results of an earlier one (flows §4.12). Neither column rewrites a partition.
ALTER TABLE money.executions ADD COLUMN rerun_of text COLLATE "C"; -- null: it takes over nothing
ALTER TABLE money.execution_nodes ADD COLUMN taken_over boolean NOT NULL DEFAULT false;
