-- Returns a bound that sorts before every id of this prefix created at `moment` or later, and after every earlier one.
-- Ids start with their milliseconds, as ten digits of Crockford's base32 (packages/api/src/ids.ts).
CREATE OR REPLACE FUNCTION money.id_bound(
  prefix text,
  moment timestamptz
) RETURNS text LANGUAGE sql STABLE
  SET search_path = pg_catalog, pg_temp
AS $$
  SELECT prefix || '_' || string_agg(
           substr('0123456789abcdefghjkmnpqrstvwxyz', ((ms >> (5 * n)) & 31)::integer + 1, 1), '' ORDER BY n DESC)
    FROM (SELECT floor(extract(epoch FROM moment) * 1000)::bigint AS ms) t, generate_series(0, 9) n
$$;
