-- MARK: Text

-- A text that is not ASCII. Called by trellis_fold only.
CREATE OR REPLACE FUNCTION @schema@.trellis_fold_wide(t text, options int) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 200 AS $fn$
DECLARE
  d pg_catalog.text COLLATE pg_catalog."C" := t;
  u pg_catalog.text COLLATE pg_catalog."C";
  v pg_catalog.text COLLATE pg_catalog."C";
BEGIN
  IF options & 7 = 0 THEN RETURN t; END IF;
  IF pg_catalog.octet_length(d) = pg_catalog.length(d) THEN
    IF options & 1 = 1 THEN RETURN pg_catalog.lower(d); END IF;
    RETURN t;
  END IF;
  -- Most texts hold nothing that the options change but the letters of ASCII.
  CASE options & 3
  WHEN 3 THEN
    IF d !~ $r$[@active3@]$r$ THEN RETURN pg_catalog.lower(d); END IF;
  WHEN 1 THEN
    IF d !~ $r$[@active1@]$r$ THEN RETURN pg_catalog.lower(d); END IF;
  WHEN 2 THEN
    IF d !~ $r$[@active2@]$r$ THEN RETURN t; END IF;
  ELSE
    IF d !~ $r$[@active4@]$r$ THEN RETURN t; END IF;
    RETURN pg_catalog.normalize(d, 'NFC');
  END CASE;
  d := pg_catalog.normalize(d, 'NFD');
  IF options & 2 = 2 THEN
    d := pg_catalog.regexp_replace(d, $r$[@marks@]+$r$, '', 'g');
  END IF;
  IF options & 1 = 1 THEN
    d := pg_catalog.lower(d);
    IF pg_catalog.octet_length(d) = pg_catalog.length(d) THEN RETURN d; END IF;
    IF d ~ $r$[@casing@]$r$ THEN
      -- Frequent in Greek.
      d := pg_catalog.replace(d, 'ς', 'σ');
      -- Only the letters to fold: translate() takes time for each character of its text times each of its table.
      u := pg_catalog.regexp_replace(d, $r$[^@casing@]+$r$, '', 'g');
      IF u ~ $r$[@expanding@]$r$ THEN
        d := pg_catalog.replace(d, 'ß', 'ss');
@expansions@
        u := pg_catalog.translate(u, '@expandinglist@', '');
        IF u = '' AND pg_catalog.octet_length(d) = pg_catalog.length(d) THEN RETURN d; END IF;
      END IF;
      v := CASE WHEN pg_catalog.length(u) > 40 THEN d ELSE u END;
@steps@
      d := CASE WHEN pg_catalog.length(u) > 40 THEN v ELSE pg_catalog.translate(d, u, v) END;
    END IF;
  END IF;
  -- Nothing is composed without one of these.
  IF d !~ $r$[@seconds@]$r$ THEN RETURN d; END IF;
  RETURN pg_catalog.normalize(d, 'NFC');
END $fn$;

-- The text folded as by TextFolding.fold. Options: 1 ignores case, 2 ignores diacritics, 4 is normalized.
-- Not STRICT, so that the planner puts it into the statement; null gives null nevertheless.
CREATE OR REPLACE FUNCTION @schema@.trellis_fold(t text, options int) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fn$
  SELECT CASE WHEN pg_catalog.octet_length(t) = pg_catalog.length(t) AND options & 7 > 0 THEN
      CASE WHEN options & 1 = 1 THEN pg_catalog.lower(t COLLATE pg_catalog."C") ELSE t END
    ELSE @schema@.trellis_fold_wide(t, options) END
$fn$;

-- A text that is not ASCII. Called by trellis_is_known only.
CREATE OR REPLACE FUNCTION @schema@.trellis_is_known_wide(t text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 50 AS $fn$
BEGIN
  RETURN t COLLATE pg_catalog."C" !~ $r$@unknown@$r$;
END $fn$;

-- Whether trellis_fold gives the same as TextFolding.fold for the text. False for texts with marks of Unicode 14 and
-- later, whose order the server's version may not know; and for spellings that Foundation does not compose by the
-- Unicode standard: a mark on a letter beyond U+FFFF, a Hangul syllable followed by a final jamo, three Tibetan vowels.
CREATE OR REPLACE FUNCTION @schema@.trellis_is_known(t text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fn$
  SELECT pg_catalog.octet_length(t) = pg_catalog.length(t) OR @schema@.trellis_is_known_wide(t)
$fn$;
