-- The audit is read by time, and by who did something or what it was done to. A page never walks past rows that it does not look at
-- (services/console/src/request/found-rows.ts).
CREATE INDEX ON control.audit (tenant, at, id);
CREATE INDEX ON control.audit (tenant, person, at, id);
CREATE INDEX ON control.audit (tenant, subject, at, id);
