-- Runs one check of a ledger replica's instance monitor. Ends the instances that have fallen silent: those that sent no
-- heartbeat for `dead_after_ms` during which one could have been received.
--
--   I1  The replica that received the last heartbeat of an instance monitors it, and only that replica ends it: whether
--       another replica receives heartbeats says nothing about whether this one could.
--   I2  The checks of a monitor prove that it and Postgres could receive heartbeats. If two checks are further apart
--       than a third of an instance's allowed silence, or the database's clock went back, silence counts again from the
--       later check (`watched_from`), because heartbeats from the time between may still be in the sockets.
--   I3  Everything is decided for one time of the database's clock, read first. A pause after that does not lengthen
--       the measured silence.
--   I4  A monitor that has not checked for MONITOR_AWAY is dead, or has paused for too long. Another monitor without
--       such a gap takes over its instances, and their silence counts from then on. The next heartbeat decides again
--       which replica monitors. Until then an instance that is alive but reaches no other replica sends signs of life
--       (services/ledger/src/instances/signs-of-life.ts). A check further than MONITOR_AWAY in the future
--       was written before the clock went back, and its monitor is dead: a live one overwrites it with its next check.
--
-- Returns how many instances it ended, for how many silence counts again (I2), and how many it took over (I4).
CREATE OR REPLACE FUNCTION money.monitor_instances(
  by_monitor text,
  OUT ended integer,
  OUT silence_restarted integer,
  OUT taken_over integer
) LANGUAGE plpgsql
AS $$
DECLARE
  MONITOR_AWAY CONSTANT interval := '10 seconds';
  -- A monitor checks four times a second; a merely slow machine must not count as a gap.
  LEAST_GAP_MS CONSTANT integer := 800;
  moment CONSTANT timestamptz(3) := clock_timestamp(); -- I3
  last_look timestamptz(3);
  gap_ms double precision;
BEGIN
  SELECT looked_at INTO last_look FROM money.instance_monitors WHERE id = by_monitor;
  INSERT INTO money.instance_monitors AS m (id, looked_at) VALUES (by_monitor, moment)
  ON CONFLICT (id) DO UPDATE SET looked_at = excluded.looked_at;
  gap_ms := extract(epoch FROM moment - last_look) * 1000;

  -- I2. A heartbeat written before the clock went back lies in the future, so the silence after it would never count.
  silence_restarted := 0;
  IF gap_ms IS NULL OR gap_ms < 0 OR gap_ms > LEAST_GAP_MS THEN
    UPDATE money.instances SET watched_from = moment, heartbeat_at = least(heartbeat_at, moment)
     WHERE monitor = by_monitor AND ended_at IS NULL
       AND (gap_ms IS NULL OR gap_ms < 0 OR gap_ms > greatest(dead_after_ms / 3, LEAST_GAP_MS));
    GET DIAGNOSTICS silence_restarted = ROW_COUNT;
  END IF;

  -- I4
  taken_over := 0;
  IF gap_ms BETWEEN 0 AND extract(epoch FROM MONITOR_AWAY) * 1000 THEN
    UPDATE money.instances SET monitor = by_monitor, watched_from = moment, heartbeat_at = least(heartbeat_at, moment)
     WHERE id IN (
       SELECT i.id FROM money.instances i
        WHERE i.ended_at IS NULL AND i.monitor IS DISTINCT FROM by_monitor
          AND NOT EXISTS (
            SELECT FROM money.instance_monitors m
             WHERE m.id = i.monitor AND m.looked_at BETWEEN moment - MONITOR_AWAY AND moment + MONITOR_AWAY)
        ORDER BY i.id FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS taken_over = ROW_COUNT;
    DELETE FROM money.instance_monitors WHERE looked_at < moment - interval '1 day';
  END IF;

  -- I1
  UPDATE money.instances SET ended_at = moment
   WHERE monitor = by_monitor AND ended_at IS NULL
     AND greatest(heartbeat_at, watched_from) + dead_after_ms * interval '1 millisecond' < moment;
  GET DIAGNOSTICS ended = ROW_COUNT;

  IF ended = 0 AND silence_restarted = 0 THEN
    PERFORM set_config('synchronous_commit', 'off', true); -- a check lost in a crash counts as a gap
  END IF;
END $$;
