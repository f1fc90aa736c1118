-- MARK: Full text

-- The tokens that an index has of a text: those of SearchTokens.kept(of:), and a few pairs more. The token ? is that of a
-- text whose words the server may see otherwise than memory does, or that has more words than an index takes; a query has
-- to look for it as well. The path of the session must not matter, because other programs write to the index, too.
CREATE OR REPLACE FUNCTION @schema@.trellis_tokens(t text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 500 SET search_path = pg_catalog, pg_temp AS $fn$
DECLARE
  f pg_catalog.text COLLATE pg_catalog."C";
BEGIN
  IF pg_catalog.octet_length(t) > 300000 THEN RETURN $r$'?'$r$; END IF;
  f := @schema@.trellis_fold(t, 3);
  IF NOT @schema@.trellis_is_known(t) THEN RETURN $r$'?'$r$; END IF;
  IF pg_catalog.octet_length(f) = pg_catalog.length(f) THEN
    RETURN pg_catalog.array_to_tsvector(ARRAY(
      SELECT DISTINCT pg_catalog."left"(w.m[1], 32) FROM pg_catalog.regexp_matches(f, '[0-9a-z]+', 'g') AS w (m)));
  END IF;
  IF f ~ $r$[@unassigned@]$r$ THEN RETURN $r$'?'$r$; END IF;
  RETURN pg_catalog.array_to_tsvector(ARRAY(
    SELECT DISTINCT p.c || CASE p.d WHEN ' ' THEN '' ELSE p.d END FROM (
      SELECT u.c, pg_catalog.lead(u.c, 1, ' ') OVER (ORDER BY u.n) AS d
      FROM pg_catalog.unnest(pg_catalog.string_to_array(
        pg_catalog.regexp_replace(f, $r$[^@joined@@joinedmarks@]+$r$, ' ', 'g'), NULL)) WITH ORDINALITY AS u (c, n)) AS p
    WHERE p.c <> ' '
    UNION
    SELECT pg_catalog."left"(w.m[1], 32)
    FROM pg_catalog.regexp_matches(f, $r$[@joined@][@joined@@joinedmarks@]*|([0-9a-z@spaced@@joinedmarks@]+)$r$, 'g') AS w (m)
    WHERE w.m[1] IS NOT NULL));
END $fn$;

-- A text that is not ASCII. Called by trellis_letters only, with a path of its own because other programs write to the
-- index, too.
CREATE OR REPLACE FUNCTION @schema@.trellis_letters_wide(t text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 300 SET search_path = pg_catalog, pg_temp AS $fn$
BEGIN
  IF NOT @schema@.trellis_is_known(t) THEN RETURN 'zqxj'; END IF;
  RETURN @schema@.trellis_fold(t, 3);
END $fn$;

-- What an index of trigrams has of a text: the text without case and diacritics, or zqxj for one that the server may fold
-- otherwise than memory does; a search has to look for that as well. A path of its own would cost more than all else.
CREATE OR REPLACE FUNCTION @schema@.trellis_letters(t text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 20 AS $fn$
BEGIN
  IF pg_catalog.octet_length(t) OPERATOR(pg_catalog.=) pg_catalog.length(t) THEN
    RETURN pg_catalog.lower(t COLLATE pg_catalog."C");
  END IF;
  RETURN @schema@.trellis_letters_wide(t);
END $fn$;
