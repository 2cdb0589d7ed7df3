-- What an execution may be charged at most (money §7.5); null: what its wallet and its key's limit hold. What is there has
-- none: it is looked through by the next migration, under a lock that holds up nobody.
ALTER TABLE money.executions ADD COLUMN max_micro bigint;
ALTER TABLE money.executions ADD CONSTRAINT executions_max_micro CHECK (max_micro >= 0) NOT VALID;
