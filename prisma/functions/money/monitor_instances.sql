-- One look of the instance monitor of one replica of the ledger. Ends the instances that have fallen silent: those from
-- which no heartbeat came for `dead_after_ms`, in a time in which one could have been taken.
--
--   I1  Anyone who took the last heartbeat of an instance monitors it, and no one else ends it: what another replica can
--       take says nothing about what this one could.
--   I2  The looks of a monitor show that it and Postgres could take heartbeats. Where two of them are further apart
--       than a third of what an instance may be silent, or the clock of the database went back, silence counts again
--       from the later one (`watched_from`): the heartbeats of the time between may still lie in the sockets.
--   I3  All of it is decided at one moment of the database's clock, taken first. What stands still after that finds the
--       silence as it was before.
--   I4  A monitor that has not looked for MONITOR_AWAY is gone, or stands still for longer than anybody waits. Another
--       one that has looked all the time takes over its instances, and their silence counts from then on. The next
--       heartbeat decides again who monitors (services/ledger/src/instances/signs-of-life.ts). An instance that lives and
--       reaches no other replica gives signs of life until then (services/ledger/src/instances/signs-of-life.ts).
--
-- Answers how many instances it ended, for how many silence counts again (I2), and how many it took over (I4).
CREATE OR REPLACE FUNCTION money.monitor_instances(
  by_monitor text,
  OUT ended integer,
  OUT counted_anew integer,
  OUT taken_over integer
) LANGUAGE plpgsql
AS $$
DECLARE
  MONITOR_AWAY CONSTANT interval := '10 seconds';
  -- Looks are four a second; a machine that is merely slow makes no gap.
  LEAST_GAP_MS CONSTANT integer := 800;
  moment CONSTANT timestamptz(3) := clock_timestamp(); -- I3
  last_look timestamptz(3);
  gap_ms double precision;
BEGIN
  SELECT looked_at INTO last_look FROM money.instance_monitors WHERE id = by_monitor;
  INSERT INTO money.instance_monitors AS m (id, looked_at) VALUES (by_monitor, moment)
  ON CONFLICT (id) DO UPDATE SET looked_at = excluded.looked_at;
  gap_ms := extract(epoch FROM moment - last_look) * 1000;

  -- I2. What was written by a clock that has gone back since would be silence that never counts.
  counted_anew := 0;
  IF gap_ms IS NULL OR gap_ms < 0 OR gap_ms > LEAST_GAP_MS THEN
    UPDATE money.instances SET watched_from = moment, heartbeat_at = least(heartbeat_at, moment)
     WHERE monitor = by_monitor AND ended_at IS NULL
       AND (gap_ms IS NULL OR gap_ms < 0 OR gap_ms > greatest(dead_after_ms / 3, LEAST_GAP_MS));
    GET DIAGNOSTICS counted_anew = ROW_COUNT;
  END IF;

  -- I4
  taken_over := 0;
  IF gap_ms BETWEEN 0 AND extract(epoch FROM MONITOR_AWAY) * 1000 THEN
    UPDATE money.instances SET monitor = by_monitor, watched_from = moment, heartbeat_at = least(heartbeat_at, moment)
     WHERE id IN (
       SELECT i.id FROM money.instances i
        WHERE i.ended_at IS NULL AND i.monitor IS DISTINCT FROM by_monitor
          AND NOT EXISTS (
            SELECT FROM money.instance_monitors m WHERE m.id = i.monitor AND m.looked_at >= moment - MONITOR_AWAY)
        ORDER BY i.id FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS taken_over = ROW_COUNT;
    DELETE FROM money.instance_monitors WHERE looked_at < moment - interval '1 day';
  END IF;

  -- I1
  UPDATE money.instances SET ended_at = moment
   WHERE monitor = by_monitor AND ended_at IS NULL
     AND greatest(heartbeat_at, watched_from) + dead_after_ms * interval '1 millisecond' < moment;
  GET DIAGNOSTICS ended = ROW_COUNT;

  IF ended = 0 AND counted_anew = 0 THEN
    PERFORM set_config('synchronous_commit', 'off', true); -- a look that a crash takes back was none: a gap
  END IF;
END $$;
